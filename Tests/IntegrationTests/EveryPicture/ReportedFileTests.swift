extension RealProcesses {
    /// Files of public bug reports whose right result depends on more than one decode, compared
    /// with Pillow.
    @Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    struct ReportedFileTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        private func serve(_ name: String) throws -> (url: String, bytes: [UInt8]) {
            let bytes = try Fixtures.read("reports/\(name)")
            origin.route("/\(name)", .bytes(bytes))
            return (origin.url("/\(name)"), bytes)
        }

        private func file(_ name: String) throws -> String {
            try #require(Fixtures.path("reports/\(name)"))
        }

        /// One frame of a file, or the middle of it as a square, as a PNG by Pillow.
        private func reference(_ name: String, frame: Int = 0, side: Int? = nil) throws -> ReadImage
        {
            let output = folder.file("reference.png")
            try Tool.run([
                "python3", "-c",
                """
                import sys; from PIL import Image, ImageOps
                image = Image.open(sys.argv[1])
                image.seek(int(sys.argv[3]))
                image, side = image.convert('RGB'), int(sys.argv[4])
                if side:
                    image = ImageOps.fit(image, (side, side), Image.Resampling.LANCZOS)
                image.save(sys.argv[2])
                """, file(name), output, "\(frame)", "\(side ?? 0)",
            ])
            return try ReadImage(output)
        }

        /// A frame has fewer pixels than a photo; all 120 together have 110 million.
        @Test func aLongAnimationIsJudgedByThePixelsDecodedAtOnce() async throws {
            let (url, bytes) = try serve("hd120.gif")
            let output = folder.file("made")
            let arguments = [
                "--allow-private-networks", "--gateway", "127.0.0.1:0", "--gateway-unsigned",
            ]
            try await withStack(arguments, decoders: 1) { stack in
                func answer(_ options: [String]) throws -> JSONValue {
                    let end = try stack.get(
                        [url, "--json", "--timeout", "120"] + options, timeout: .seconds(130))
                    try #require(end.exitStatus == 0, "\(end)")
                    return try end.json()
                }
                let info = try answer(["--info"])
                #expect(info["width"]?.integer == 1_280 && info["height"]?.integer == 720)
                #expect(info["pages"]?.integer == 120)
                _ = try answer(["-o", output])
                #expect(FileBytes.read(output) == bytes)
                let raw = try RawClient.get("/unsafe/raw:1/plain/\(url)", stack.gatewayPort())
                #expect(raw.status == 200 && raw.body == bytes)
                _ = try answer(["--resize", "200x", "--format", "png", "-o", output])
                let small = try ReadImage(output)
                #expect(["200x112", "200x113"].contains(small.size) && small.frames == 1)
                _ = try answer(["--frame", "3", "--format", "png", "-o", output])
                let frame = try ReadImage(output)
                #expect(frame.size == "1280x720")
                #expect(try frame.difference(from: reference("hd120.gif", frame: 3)) <= 0.3)
                _ = try answer(["--animated", "--resize", "200x", "--format", "gif", "-o", output])
                let all = try ReadImage(output)
                #expect(all.size == small.size && all.frames == 120)
            }
        }

        /// The second frame is cut off: loads that need it are refused, but not loads of a still.
        @Test func aReportedAnimationThatFailsRefusesOnlyAnimations() async throws {
            let (url, _) = try serve("cut60.gif")
            let output = folder.file("made.png")
            let whole = try reference("cut60.gif")
            try await withStack(decoders: 1) { stack in
                func expectStill(_ width: Int) throws {
                    let end = try stack.get(
                        [url, "--resize", "\(width)x", "--format", "png", "-o", output])
                    try #require(end.exitStatus == 0, "\(end)")
                    let still = try ReadImage(output)
                    #expect(still.size.hasPrefix("\(width)x3") && still.frames == 1)
                    #expect(still.difference(from: whole) <= 2, "\(still.means), \(whole.means)")
                }
                func error(_ width: Int) throws -> String? {
                    try stack.get([
                        url, "--animated", "--resize", "\(width)x", "--format", "gif", "--json",
                    ]).json()["error"]?["name"]?.text
                }
                try expectStill(40)
                #expect(try error(40) == "badImageData")
                #expect(try error(48) == "blacklisted")
                try expectStill(48)
            }
        }

        /// Only the middle square of the strip of 690×25,000 pixels is enlarged.
        @Test func theMiddleOfALongStripFillsABox() async throws {
            let (url, _) = try serve("webtoon.jpg")
            let output = folder.file("made.png")
            try await withStack(decoders: 1) { stack in
                let end = try stack.get(
                    [url, "--resize", "1000x1000", "--mode", "fill", "--format", "png"]
                        + ["-o", output, "--timeout", "120"], timeout: .seconds(130))
                try #require(end.exitStatus == 0, "\(end)")
            }
            let produced = try ReadImage(output)
            let wanted = try reference("webtoon.jpg", side: 1_000)
            #expect(produced.size == "1000x1000")
            // Other parts of the strip differ by 2 to 6.
            #expect(produced.difference(from: wanted) <= 1, "\(produced.means), \(wanted.means)")
        }

        /// Damage in a later frame: all frames are refused by default, and on request shown as far
        /// as they are there, with a mark. Where nothing is decoded, the file is delivered.
        @Test(arguments: ["cut60.gif", "apng_cut.png"])
        func aCutAnimationIsShownOnRequest(name: String) async throws {
            let (url, bytes) = try serve(name)
            let output = folder.file("made")
            try await withStack(decoders: 1) { stack in
                let plain = try stack.get([url, "-o", output])
                #expect(plain.exitStatus == 0 && FileBytes.read(output) == bytes, "\(plain)")
                let all = [url, "--animated", "--resize", "20x", "--format", "webp", "--json"]
                let shown = try stack.get(all + ["--damaged", "show"])
                #expect(try shown.json()["damaged"] == .bool(true), "\(shown)")
                let refused = try stack.get(all)
                #expect(try refused.json()["error"]?["name"]?.text == "badImageData", "\(refused)")
                // The refusal concerns loads of all frames only.
                let again = try stack.get([url, "-o", output])
                #expect(again.exitStatus == 0 && FileBytes.read(output) == bytes, "\(again)")
                try stack.get(
                    [url, "--resize", "24x", "--format", "png", "-o", output]).expect(0)
            }
        }
    }
}
