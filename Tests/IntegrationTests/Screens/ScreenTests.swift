extension RealProcesses {
    /// Output on a terminal of 100 by 30, saved in `.build/screens` as text and as images for
    /// review.
    @Suite struct ScreenTests {
        /// The contents of a screen.
        private struct Screen {
            let status: Int32?
            let lines: [String]
            let picture: String

            var text: String { lines.joined(separator: "\n") }
        }

        private func screen(
            _ name: String, until pattern: String? = nil, _ words: [String]
        ) throws -> Screen {
            let folder = RepositoryRoot.file(".build/screens")
            try Tool.run(["mkdir", "-p", folder])
            let path = "\(folder)/\(name)"
            let program = try Programs.path(.imagebus)
            let end = try CommandLineRun(
                program: RepositoryRoot.file("Tests/Screens/screen"),
                ["100x30", path] + (pattern.map { ["--until", $0] } ?? [])
                    + ["--", "env", "-u", "NO_COLOR", "-u", "KITTY_WINDOW_ID", "TERM=xterm"]
                    + [program] + words
            ).end(timeout: .seconds(180))
            #expect(!end.errorText.contains("screen: unknown"), "\(end)")
            let text = FileBytes.text("\(path).txt") ?? ""
            return Screen(
                status: end.exitStatus,
                lines: text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .map(String.init),
                picture: "\(path).png")
        }

        /// The color of a pixel, by Pillow.
        private func pixel(_ screen: Screen, _ x: Int, _ y: Int) throws -> [UInt8] {
            let script = """
                import sys; from PIL import Image
                image = Image.open(sys.argv[1])
                sys.stdout.buffer.write(bytes(image.getpixel((int(sys.argv[2]), int(sys.argv[3])))))
                """
            return try Tool.run(["python3", "-c", script, screen.picture, "\(x)", "\(y)"])
        }

        @Test func anImageIsShownInHalfBlocks() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let screen = try screen(
                    "show",
                    ["get", origin.url("/a.png"), "--show", "--graphics", "blocks"]
                        + ["--runtime-dir", stack.runtimeDirectory])
                #expect(screen.status == 0, "\(screen.text)")
                let blocks = screen.lines.filter { $0.contains("▀") || $0.contains("▄") }
                #expect(!blocks.isEmpty && blocks.count < 30)
                #expect(blocks.allSatisfy { $0.count <= 100 && $0.count == blocks[0].count })
                // Each quarter has its own color.
                let (width, height) = (9 * (blocks.first?.count ?? 0), 18 * blocks.count)
                let corners = try [(2, 2), (width - 3, 2), (2, height - 20)].map { x, y in
                    try pixel(screen, x, y)
                }
                #expect(Set(corners).count == 3, "\(corners)")
            }
        }

        @Test func aBarShowsHowFarItIs() async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let screen = try screen(
                    "bar", until: #"\[[#.]{30}\] \d+% of "#,
                    ["get", slow.origin.url("/slow.jpg"), "--runtime-dir", stack.runtimeDirectory])
                #expect(screen.status == 130, "Ctrl-C cancels: \(screen.text)")
                #expect(screen.lines.first?.count ?? 0 <= 100)
            }
        }

        @Test func theStatusIsShownInPlace() async throws {
            try await withStack { stack in
                let screen = try screen(
                    "status-watch", until: "decode[^\n]*\n(.*\n)*.*transform",
                    ["status", "--watch", "--runtime-dir", stack.runtimeDirectory])
                #expect(screen.text.contains("decode"), "\(screen.text)")
                #expect(screen.lines.count <= 30 && screen.lines.first?.contains("up ") == true)
                #expect(screen.lines.allSatisfy { $0.count <= 100 }, "\(screen.text)")
            }
        }

        @Test func theDoctorPaintsWhatItFound() async throws {
            try await withStack { stack in
                let screen = try screen(
                    "doctor", ["doctor", "--runtime-dir", stack.runtimeDirectory])
                #expect(screen.text.contains("canary"), "\(screen.text)")
                let row = try #require(
                    screen.lines.firstIndex { $0.hasPrefix("ok       canary") }, "\(screen.text)")
                // Some pixel of the word is green.
                let colors = try (0..<18).map { try pixel(screen, 4, 18 * row + $0) }
                #expect(colors.contains { $0[1] > 100 && $0[0] < 100 }, "\(colors)")
            }
        }

        @Test func anErrorSaysWhatToType() async throws {
            let origin = OriginServer("/gone.png", .status(404))
            try await withStack { stack in
                let screen = try screen(
                    "error",
                    ["get", origin.url("/gone.png"), "--runtime-dir", stack.runtimeDirectory])
                #expect(screen.status == 66)
                #expect(screen.text.contains("invalidDownloadStatusCode (2001)"))
                #expect(
                    screen.text.contains("imagebus get: next: check the URL"),
                    "\(screen.text)")
            }
        }
    }
}
