extension RealProcesses {
    /// Animations over HTTP (WEB.md): as stills, or with all their frames, counted by Pillow.
    @Suite struct GatewayAnimationTests {
        private let bench = GatewayBench()
        private static let browser =
            "Accept: image/avif,image/webp,image/apng,image/*;q=0.8,*/*;q=0.5\r\n"
        private static let frames = 5

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

        /// A still keeps the format of its source unless the URL names one, and is marked as a
        /// still.
        @Test(
            arguments: [
                ("/a.gif", "", "GIF 1"), ("/a.png", "", "PNG 1"), ("/a.webp", "", "WEBP 1"),
                ("/a.gif", "@webp", "WEBP 1"), ("/a.gif", "@gif", "GIF 1"),
            ])
        func imgproxyShowsStills(name: String, fileExtension: String, expected: String) async throws
        {
            try await bench.run { gateway, _ in
                let target = bench.path(name, "rs:fit:30:30", fileExtension)
                let answer = try gateway.get(target, Self.browser)
                #expect(try seen(answer) == expected, "\(answer.head)")
                #expect(answer.field("X-Imagebus-Still-Of") == "\(Self.frames)")
            }
        }

        /// If frames are kept, the format is one that supports them, whatever the client prefers;
        /// animations with more frames become stills.
        @Test(
            arguments: [
                ("5", "/a.gif", "", "WEBP 5"), ("9", "/a.png", "", "WEBP 5"),
                ("5", "/a.gif", "@gif", "GIF 5"), ("5", "/a.gif", "@png", "PNG 5"),
                ("5", "/a.gif", "@jpg", "JPEG 1"), ("4", "/a.gif", "", "GIF 1"),
            ])
        func imgproxyKeepsAsManyFramesAsItIsTold(
            most: String, name: String, fileExtension: String, expected: String
        ) async throws {
            try await bench.run(["--max-animation-frames", most]) { gateway, _ in
                let target = bench.path(name, "rs:fit:30:30", fileExtension)
                let answer = try gateway.get(target, Self.browser)
                #expect(try seen(answer) == expected, "\(answer.head)")
            }
        }

        /// A URL can limit the number of frames itself; only `raw` keeps those of an otherwise
        /// unchanged animation.
        @Test(
            arguments: [
                ("", "GIF 1"), ("f:gif", "GIF 1"), ("f:webp", "WEBP 1"), ("maf:9", "WEBP 5"),
                ("maf:9/f:gif", "GIF 5"), ("maf:4", "GIF 1"), ("raw:1", "GIF 5"),
                ("skp:gif/w:20", "GIF 5"),
            ])
        func imgproxyURLsSayWhatIsKept(options: String, expected: String) async throws {
            try await bench.run { gateway, _ in
                let answer = try gateway.get(bench.path("/a.gif", options), Self.browser)
                #expect(try seen(answer) == expected, "\(options) \(answer.head)")
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
