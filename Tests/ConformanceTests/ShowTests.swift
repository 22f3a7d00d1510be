import Imagebus
import StackKit
import TestKit
import Testing

extension Conformance {
    /// `imagebus get --show` in a terminal of its own.
    @Suite struct ShowTests {
        private let origin = OriginServer()

        /// Runs it behind a terminal of 40 by 12 cells, and types `keys` when something was drawn.
        /// What the terminal got; throws where the status is not 0.
        private func show(
            _ name: String, terminal: String = "xterm", keys: String = ""
        ) throws -> String {
            let script = """
                import fcntl, os, pty, struct, sys, termios
                keys = sys.argv[1].encode()
                child, terminal = pty.fork()
                if child == 0:
                    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 40, 0, 0))
                    os.execvp(sys.argv[2], sys.argv[2:])
                said = b""
                while True:
                    try:
                        part = os.read(terminal, 65536)
                    except OSError:
                        break
                    said += part
                    if keys and b"\\x1b[0m" in said:
                        os.write(terminal, keys)
                        keys = b""
                sys.stdout.buffer.write(said)
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                """
            let stack = try SharedStack.current
            let said = try Tool.run([
                "env", "-u", "KITTY_WINDOW_ID", "TERM=\(terminal)", "python3", "-c", script, keys,
                Programs.commandLine, "get", origin.url("/\(name)"), "--show", "--runtime-dir",
                stack.runtimeDirectory,
            ])
            return String(decoding: said, as: UTF8.self)
        }

        private func serve(_ name: String) throws -> AnimatedFile {
            let file = try AnimatedFile(made: name)
            origin.route("/\(name)", .bytes(file.bytes))
            return file
        }

        /// How often the cursor went back to the top.
        private func redrawings(_ said: String) -> Int {
            said.split(separator: "\u{1B}[", omittingEmptySubsequences: false)
                .count { $0.hasPrefix("11A\r") || $0.hasPrefix("2A\r") }
        }

        @Test func anAnimationPlaysUntilItsLoopsEnd() throws {
            let file = try serve("restored.gif")
            let said = try show("restored.gif")
            #expect(said.hasPrefix("\u{1B}[?25l"))
            #expect(said.hasSuffix("\u{1B}[?25h"))
            #expect(said.contains("▀"))
            // 37 by 29 pixels become 28 by 22, which is eleven lines.
            #expect((1..<file.frames.count).contains(redrawings(said)))
        }

        @Test func aKeyEndsAnAnimationWithoutEnd() throws {
            _ = try serve("kept.gif")
            let said = try show("kept.gif", keys: "q")
            #expect(said.contains("▀"))
            #expect(said.hasSuffix("\u{1B}[?25h"))
        }

        @Test func aTerminalLikeKittyGetsPNGs() throws {
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            let said = try show("still.png", terminal: "xterm-kitty")
            #expect(said.contains("\u{1B}_Ga=T,f=100,i="))
            #expect(said.contains(";iVBORw0KGgo"))
        }

        @Test func withoutATerminalItSaysWhatToDo() throws {
            let end = try SharedStack.current.get([origin.url("/still.png"), "--show"])
            #expect(end.exitStatus == 64, "\(end)")
            #expect(end.errorText.contains("write the image with -o FILE"))
        }
    }
}
