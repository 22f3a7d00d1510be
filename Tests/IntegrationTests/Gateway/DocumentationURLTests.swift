extension RealProcesses {
    /// The URLs of imgproxy's documentation and of thumbor's filter pages, sent to a gateway: each
    /// is answered with the size that the documented rule gives, or rejected by name with status
    /// 501. The source has 1200 × 800 pixels.
    @Suite struct DocumentationURLTests {
        private let bench = GatewayBench()

        private func routeImages() throws {
            bench.origin.route(
                "/a.jpg", .bytes(try Images.waves(width: 1200, height: 800).jpeg(quality: 80)))
            bench.origin.route("/m.png", .bytes(try Images.waves(width: 40, height: 40).png()))
        }

        /// The options, and the size by the documented rule; `nil`: status 501.
        private static let imgproxy: [(String, String?)] = [
            // "Signing a URL", "Processing an image", "Getting started".
            ("rs:fill:300:400:0/g:sm", "300x400"),
            ("pr:sharp/rs:fill:300:400:0/g:sm", "300x400"),
            ("preset:sharp/resize:fill:300:400:0/gravity:sm", "300x400"),
            ("rs:fit:300:200", "300x200"),
            // Resize: fit keeps the ratio, fill crops, fill-down never enlarges, force ignores the
            // ratio, auto fills if image and box have the same orientation.
            ("resize:fit:300:300", "300x200"), ("rs:fill:300:300", "300x300"),
            ("rs:fill-down:2400:2400", "800x800"), ("rs:force:300:300", "300x300"),
            ("rs:auto:300:150", "300x150"), ("rs:auto:200:300", "200x133"),
            ("size:300:300", "300x200"), ("s:300", "300x200"), ("rt:fill/s:300:300", "300x300"),
            ("width:300", "300x200"), ("w:0", "1200x800"), ("height:300", "450x300"),
            ("min-width:600/w:300/rt:fill/h:600", "300x600"), ("zoom:0.5/w:300", "150x100"),
            ("z:0.5:0.25/rs:force:400:400", "200x100"), ("dpr:2/w:300", "600x400"),
            ("enlarge:1/rs:fit:2400:2400", "2400x1600"), ("rs:fit:2400:2400", "1200x800"),
            ("extend:1/rs:fit:300:300", "300x300"), ("ex:1:no/s:300:300", "300x300"),
            ("extend_aspect_ratio:1/rs:fit:300:400", "300x400"),
            ("gravity:ce/rs:fill:300:300", "300x300"), ("g:fp:0.5:0.5/rs:fill:300:300", "300x300"),
            ("g:noea:10:10/rs:fill:300:300", "300x300"), ("crop:600:400", "600x400"),
            ("c:0.5:0.5:nowe", "600x400"), ("c:0:400", "1200x400"),
            ("padding:10", "1220x820"), ("pd:10:20:30:40", "1260x840"), ("pd:10:20", "1240x820"),
            ("auto_rotate:1", "1200x800"), ("rotate:90", "800x1200"), ("rot:180", "1200x800"),
            ("flip:1:1", "1200x800"), ("background:255:0:0", "1200x800"),
            ("bg:ff0000", "1200x800"), ("blur:5", "1200x800"), ("sharpen:0.7", "1200x800"),
            ("pixelate:10", "1200x800"), ("watermark:0.5:soea:10:10:0.2", "1200x800"),
            ("wm:1:re", "1200x800"), ("strip_metadata:1", "1200x800"),
            ("keep_copyright:1", "1200x800"), ("strip_color_profile:1", "1200x800"),
            ("preserve_hdr:1", "1200x800"), ("quality:50", "1200x800"),
            ("format_quality:jpeg:50:png:60", "1200x800"), ("max_bytes:100000", "1200x800"),
            ("format:png", "1200x800"), ("cachebuster:abc123", "1200x800"),
            ("expires:4102444800", "1200x800"), ("filename:a.png", "1200x800"),
            ("return_attachment:1", "1200x800"), ("raw:1", "1200x800"),
            // Options of the paid edition, and unsupported ones.
            ("skip_processing:gif", "1200x800"),
            ("max_animation_frames:2", "1200x800"),
            ("g:obj:face/rs:fill:300:300", nil), ("format:best", nil),
        ]

        @Test func imgproxysURLsAreAsDocumented() async throws {
            try routeImages()
            try await bench.run([
                "--preset-lines", "sharp=sharpen:0.7", "--watermark", bench.origin.url("/m.png"),
            ]) { gateway, _ in
                var score = Score()
                for (options, size) in Self.imgproxy {
                    let fileExtension = options.hasPrefix("raw") ? "" : "@png"
                    let answer = try gateway.get(bench.path("/a.jpg", options, fileExtension))
                    try score.count(options, answer, size)
                }
                let hidden = try gateway.get("/unsafe/rs:fit:300:300/enc/p5VjorNdhs7mRRw8gA9TWo")
                try score.count("enc", hidden, nil)
                score.report("imgproxy")
                #expect(score.wrong.isEmpty, "\(score.wrong)")
            }
        }

        @Test func imgproxysPresetsStandInPlaceOfOptions() async throws {
            try routeImages()
            try await bench.run([
                "--only-presets", "--watermark", bench.origin.url("/m.png"), "--preset-lines",
                "thumbnail=rs:fill:300:200\nblurry=blur:5\nwatermarked=wm:0.5",
            ]) { gateway, _ in
                let answer = try gateway.get(
                    bench.path("/a.jpg", "thumbnail:blurry:watermarked", "@png"))
                #expect(try Pixels(decoding: answer.body).size == "300x200")
            }
        }

        private static let thumbor: [(String, String?)] = [
            ("300x200", "300x200"), ("300x0", "300x200"), ("-0x-0", "1200x800"),
            ("300x200/smart", "300x200"), ("-300x-200/left/top/smart", "300x200"),
            ("200x400/smart", "200x400"), ("240x220:480x260", "240x40"),
            ("filters:brightness(10):contrast(30)", "1200x800"),
            ("fit-in/300x300/filters:background_color(add8e6)", "300x200"),
            ("fit-in/300x300/filters:background_color(blue)", "300x200"),
            ("fit-in/300x300/filters:background_color(f00)", "300x200"),
            ("filters:blur(7)", "1200x800"), ("filters:brightness(40)", "1200x800"),
            ("filters:contrast(-40)", "1200x800"), ("filters:contrast(40)", "1200x800"),
            ("fit-in/300x225/filters:fill(add8e6,1)", "300x225"),
            ("fit-in/300x225/filters:fill(blue,1)", "300x225"),
            ("fit-in/300x225/filters:fill(f00,true)", "300x225"),
            ("fit-in/300x300/filters:fill(add8e6)", "300x300"),
            ("fit-in/300x300/filters:fill(f00)", "300x300"),
            ("400x100/filters:focal(146x206:279x360)", "400x100"),
            ("filters:format(webp)", "1200x800"), ("filters:grayscale()", "1200x800"),
            ("filters:max_bytes(75000)", "1200x800"), ("filters:no_upscale()", "1200x800"),
            ("filters:proportion(0.5)", "600x400"), ("filters:quality(40)", "1200x800"),
            ("filters:rotate(90)", "800x1200"),
            ("filters:round_corner(20,255,255,255)", "1200x800"),
            ("filters:round_corner(30,0,0,0,1)", "1200x800"),
            ("200x100/filters:stretch()", "200x100"), ("filters:strip_exif()", "1200x800"),
            ("filters:strip_icc()", "1200x800"),
            ("fit-in/1500x1300/filters:upscale()", "1500x1000"),
            ("filters:sharpen(1,1.0,false)", "1200x800"), ("filters:max_age(60)", "1200x800"),
            // Rejected by name.
            ("debug/200x400/smart", nil), ("fit-in/300x225/filters:fill(auto,true)", nil),
            ("fit-in/300x300/filters:fill(blur)", nil), ("filters:round_corner(20|40,0,0,0)", nil),
            ("filters:sharpen(2,1.0,true)", nil),
        ]

        @Test func thumborsURLsAreAsDocumented() async throws {
            try routeImages()
            try await bench.run(["--grammar", "thumbor"]) { gateway, _ in
                var score = Score()
                let sources = [
                    bench.origin.url("/a.jpg"),
                    bench.origin.url("/a.jpg").replacing(":", with: "%3A")
                        .replacing("/", with: "%2F"),
                ]
                for (path, size) in Self.thumbor {
                    for source in sources {
                        let answer = try gateway.get("/unsafe/\(path)/\(source)")
                        try score.count(path, answer, size)
                    }
                }
                score.report("thumbor")
                #expect(score.wrong.isEmpty, "\(score.wrong)")
            }
        }

        /// A real thumbor returns the sizes of the table.
        @Test(.enabled(if: ThumborServer.path != nil, "IMAGEBUS_THUMBOR names a thumbor"))
        func thumborItselfAnswersInTheseSizes() throws {
            try routeImages()
            let thumbor = try ThumborServer()
            var score = Score()
            for (path, size) in Self.thumbor {
                guard let size else { continue }
                let answer = try thumbor.get("/unsafe/\(path)/\(bench.origin.url("/a.jpg"))")
                try score.count(path, answer, size)
            }
            score.report("a real thumbor")
            #expect(score.wrong.isEmpty, "\(score.wrong)")
        }

        /// The number of URLs answered as documented.
        private struct Score {
            var passed = 0
            var refused = 0
            var wrong: [String] = []

            mutating func count(
                _ path: String, _ answer: RawClient.Response, _ size: String?
            ) throws {
                guard let size else {
                    let name = path.split { ":(/".contains($0) }.last { answer.text.contains($0) }
                    let isNamed = answer.status == 501 && name != nil
                    if isNamed { refused += 1 } else { wrong.append("\(path): \(answer.head)") }
                    return
                }
                guard answer.status == 200 else { return wrong.append("\(path): \(answer.head)") }
                let found = try Pixels(decoding: answer.body).size
                if found == size { passed += 1 } else { wrong.append("\(path): \(found)") }
            }

            func report(_ server: String) {
                print("\(server): \(passed) passed, \(refused) 501 by name, \(wrong.count) wrong")
            }
        }
    }
}
