extension RealProcesses {
    /// Animations over HTTP (WEB.md): as stills, or with all their frames, counted by Pillow.
    @Suite struct GatewayAnimationTests {
        private let bench = GatewayBench()
        private static let browser =
            "Accept: image/avif,image/webp,image/apng,image/*;q=0.8,*/*;q=0.5\r\n"
        private static let frames = 5
        private static let fit = "rs:fit:30:30"

        init() throws {
            let script = """
                import sys; from PIL import Image, ImageDraw
                frames = []
                for place in range(5):
                    frame = Image.new("RGB", (60, 40), (9, 9, 9))
                    ImageDraw.Draw(frame).rectangle((place * 9, 4, place * 9 + 9, 30), (200, 50, 9))
                    frames.append(frame)
                frames[0].save(
                    sys.stdout.buffer, sys.argv[1], save_all=True, append_images=frames[1:],
                    duration=80, loop=0, lossless=True)
                """
            for (path, format) in [("/a.gif", "GIF"), ("/a.png", "PNG"), ("/a.webp", "WEBP")] {
                bench.origin.route(path, .bytes(try Tool.run(["python3", "-c", script, format])))
            }
        }

        /// The format and number of frames as read by Pillow.
        private func seen(_ answer: RawClient.Response) throws -> String {
            let script = """
                import io, sys; from PIL import Image
                image = Image.open(io.BytesIO(sys.stdin.buffer.read()))
                print(image.format, getattr(image, "n_frames", 1), end="")
                """
            let output = try Tool.run(["python3", "-c", script], input: answer.body)
            return String(decoding: output, as: UTF8.self)
        }

        /// A still keeps the format of its source unless the URL names one. If frames are kept, the
        /// format is one that supports them, whatever the client prefers; animations with more
        /// frames become stills. A URL can limit the number of frames itself; only `raw` keeps those
        /// of an otherwise unchanged animation.
        @Test(
            arguments: [
                ("", "/a.gif", fit, "", "GIF 1"), ("", "/a.png", fit, "", "PNG 1"),
                ("", "/a.webp", fit, "", "WEBP 1"), ("", "/a.gif", fit, "@webp", "WEBP 1"),
                ("", "/a.gif", fit, "@gif", "GIF 1"), ("5", "/a.gif", fit, "", "WEBP 5"),
                ("9", "/a.png", fit, "", "WEBP 5"), ("5", "/a.gif", fit, "@gif", "GIF 5"),
                ("5", "/a.gif", fit, "@png", "PNG 5"), ("5", "/a.gif", fit, "@jpg", "JPEG 1"),
                ("4", "/a.gif", fit, "", "GIF 1"), ("", "/a.gif", "", "", "GIF 1"),
                ("", "/a.gif", "f:gif", "", "GIF 1"), ("", "/a.gif", "f:webp", "", "WEBP 1"),
                ("", "/a.gif", "maf:9", "", "WEBP 5"), ("", "/a.gif", "maf:9/f:gif", "", "GIF 5"),
                ("", "/a.gif", "maf:4", "", "GIF 1"), ("", "/a.gif", "raw:1", "", "GIF 5"),
                ("", "/a.gif", "skp:gif/w:20", "", "GIF 5"),
            ])
        func imgproxyKeepsAsManyFramesAsItIsTold(
            most: String, name: String, options: String, fileExtension: String, expected: String
        ) async throws {
            let arguments = most.isEmpty ? [] : ["--max-animation-frames", most]
            try await bench.run(arguments) { gateway, _ in
                let target = bench.path(name, options, fileExtension)
                let answer = try gateway.get(target, Self.browser)
                #expect(try seen(answer) == expected, "\(answer.head)")
                guard most.isEmpty, options == Self.fit else { return }
                #expect(answer.field("X-Imagebus-Still-Of") == "\(Self.frames)")
            }
        }

        /// The pixel limit applies to a single frame, so 2,400 of them don't add up.
        @Test func anAnimationIsHeldToTheLimitOfOneFrame() async throws {
            try await bench.run(
                ["--grammar", "thumbor"], stack: ["--pixel-limit", "2400"]
            ) { gateway, _ in
                for options in ["fit-in/30x30/", ""] {
                    let url = bench.origin.url("/a.gif")
                    let answer = try gateway.get("/unsafe/\(options)\(url)")
                    #expect(try seen(answer) == "GIF 5", "\(answer.head)")
                }
            }
            try await bench.run(
                ["--grammar", "thumbor"], stack: ["--pixel-limit", "2399"]
            ) { gateway, _ in
                let answer = try gateway.get("/unsafe/\(bench.origin.url("/a.gif"))")
                #expect(answer.status == 422, "\(answer.head)")
            }
        }

        @Test func thumborKeepsAllFrames() async throws {
            try await bench.run(["--grammar", "thumbor"]) { gateway, _ in
                let target = "/unsafe/30x20/\(bench.origin.url("/a.gif"))"
                for (accept, expected) in [
                    (Self.browser, "WEBP 5"), ("Accept: image/avif,image/*\r\n", "GIF 5"),
                    ("", "GIF 5"),
                ] {
                    let answer = try gateway.get(target, accept)
                    #expect(try seen(answer) == expected, "\(answer.head)")
                }
            }
        }
    }
}
