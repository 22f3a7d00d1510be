import Imagebus
import StackKit
import TestKit
import Testing

extension Conformance {
    /// `imagebus get --show` in a pseudo-terminal.
    @Suite struct ShowTests {
        private let origin = OriginServer()

        /// The reply of a terminal without sixels to queries, and of one with cells of 10 by 20
        /// pixels.
        private static let plain = "\u{1B}[?1;2c"
        private static let sixels = "\u{1B}[6;20;10t\u{1B}[?62;4;22c"

        /// Runs the command in a terminal of 40 by 12 cells that sends `answer`, and types `keys`
        /// once something was drawn. Returns the output to the terminal; throws if the exit status
        /// isn't 0.
        private func show(
            _ name: String, terminal: String = "xterm", answer: String = plain, keys: String = "",
            _ more: [String] = []
        ) throws -> String {
            let script = """
                import fcntl, os, pty, struct, sys, termios
                keys, answer = sys.argv[1].encode(), sys.argv[2].encode()
                child, terminal = pty.fork()
                if child == 0:
                    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 40, 0, 0))
                    os.execvp(sys.argv[3], sys.argv[3:])
                said = b""
                while True:
                    try:
                        part = os.read(terminal, 65536)
                    except OSError:
                        break
                    said += part
                    if answer and b"\\x1b[c" in said:
                        os.write(terminal, answer)
                        answer = b""
                    if keys and (b"\\x1b[0m" in said or b"\\x1b8" in said):
                        os.write(terminal, keys)
                        keys = b""
                sys.stdout.buffer.write(said)
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                """
            let stack = try SharedStack.current
            let output = try Tool.run(
                [
                    "env", "-u", "KITTY_WINDOW_ID", "TERM=\(terminal)", "python3", "-c", script,
                    keys,
                    answer, Programs.path(.imagebus), "get", origin.url("/\(name)"), "--show",
                    "--runtime-dir",
                    stack.runtimeDirectory,
                ] + more)
            return String(decoding: output, as: UTF8.self)
        }

        private func serve(_ name: String) throws -> AnimatedFile {
            let file = try AnimatedFile(generated: name)
            origin.route("/\(name)", .bytes(file.bytes))
            return file
        }

        /// How often the cursor returned to the top.
        private func redrawings(_ output: String) -> Int {
            output.split(separator: "\u{1B}[", omittingEmptySubsequences: false)
                .count { $0.hasPrefix("11A\r") || $0.hasPrefix("2A\r") }
        }

        @Test func anAnimationPlaysUntilItsLoopsEnd() throws {
            let file = try serve("restored.gif")
            let output = try show("restored.gif")
            #expect(output.hasPrefix("\u{1B}[16t\u{1B}[c\u{1B}[?25l"))
            #expect(output.hasSuffix("\u{1B}[?25h"))
            #expect(output.contains("▀"))
            // 37 by 29 pixels become 28 by 22, which is eleven lines.
            #expect((1..<file.frames.count).contains(redrawings(output)))
        }

        @Test func aKeyEndsAnAnimationWithoutEnd() throws {
            _ = try serve("kept.gif")
            let output = try show("kept.gif", keys: "q")
            #expect(output.contains("▀"))
            #expect(output.hasSuffix("\u{1B}[?25h"))
        }

        @Test func aTerminalLikeKittyGetsPNGs() throws {
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            let output = try show("still.png", terminal: "xterm-kitty")
            #expect(output.contains("\u{1B}_Ga=T,f=100,i="))
            #expect(output.contains(";iVBORw0KGgo"))
        }

        /// The images between `ESC P` and `ESC \`, decoded by libsixel: sizes and RGB.
        private func sixelImages(_ output: String) throws -> [(size: String, rgb: [UInt8])] {
            let folder = TemporaryDirectory()
            return try output.split(separator: "\u{1B}P").dropFirst().map { part in
                let image = "\u{1B}P" + part.prefix { $0 != "\u{1B}" } + "\u{1B}\\"
                let path = folder.write(Array(image.utf8), to: "a.six")
                try Tool.run(["sixel2png", "-i", path, "-o", folder.file("a.png")])
                let pixels = try Pixels(
                    decoding: #require(FileBytes.read(folder.file("a.png"))))
                let rgb = (0..<pixels.width * pixels.height).flatMap {
                    pixels.at($0 % pixels.width, $0 / pixels.width).prefix(3)
                }
                return (pixels.size, rgb)
            }
        }

        @Test func aTerminalThatAnswersWithAFourGetsSixels() throws {
            // Cells of 10 by 20 pixels, with eleven free lines: 400 by 216.
            let image = Images.quadrants(width: 400, height: 400)
            origin.route("/sixel.png", .bytes(try image.png()))
            let output = try show("sixel.png", answer: Self.sixels)
            let found = try sixelImages(output)
            try #require(found.count == 1)
            #expect(found[0].size == "216x216")
            func at(_ x: Int, _ y: Int) -> [UInt8] {
                Array(found[0].rgb[3 * (y * 216 + x)..<3 * (y * 216 + x) + 3])
            }
            for (place, color) in [
                (at(9, 9), Images.red), (at(200, 9), Images.green), (at(9, 200), Images.blue),
                (at(200, 200), Images.yellow),
            ] {
                // Sixel colors are percentages instead of 8 bits.
                #expect(zip(place, color).allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(place)")
            }
            // Eleven lines are reserved, and the cursor ends below them, wherever the image leaves
            // it.
            #expect(
                output.contains(String(repeating: "\r\n", count: 11) + "\u{1B}[11A\r\u{1B}7\u{1B}P")
            )
            #expect(output.contains("\u{1B}\\\u{1B}8\u{1B}[11B\r"))
        }

        @Test func anAnimationPlaysInSixels() throws {
            let file = try serve("restored.gif")
            let output = try show("restored.gif", answer: Self.sixels)
            let found = try sixelImages(output)
            #expect((2...file.frames.count).contains(found.count), "\(found.count)")
            #expect(found.allSatisfy { $0.size == "\(file.width)x\(file.height)" })
            #expect(output.hasSuffix("\u{1B}[?25h"))
        }

        @Test func theGraphicsCanBeNamed() throws {
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            let sixel = try show("still.png", ["--graphics", "sixel"])
            #expect(sixel.contains("\u{1B}P0;1q"))
            let blocks = try show(
                "still.png", answer: Self.sixels, ["--graphics", "blocks"])
            #expect(blocks.contains("▀") && !blocks.contains("\u{1B}[c"))
            let kitty = try show("still.png", ["--graphics", "kitty"])
            #expect(kitty.contains("\u{1B}_Ga=T") && !kitty.contains("\u{1B}[c"))
        }

        @Test func withoutATerminalItSaysWhatToDo() throws {
            let end = try SharedStack.current.get([origin.url("/still.png"), "--show"])
            #expect(end.exitStatus == 64, "\(end)")
            #expect(end.errorText.contains("write the image with -o FILE"))
        }
    }
}
