extension RealProcesses {
    /// What `get` writes: files, and text from untrusted sources on a terminal.
    @Suite struct OutputTests {
        private let folder = TemporaryDirectory()

        private func format(_ name: String) throws -> [UInt8] {
            Array(try #require(FileBytes.read(folder.file(name))).prefix(4))
        }
        private let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]
        private let riff = Array("RIFF".utf8)

        @Test func theNameOfTheFileSaysTheFormat() async throws {
            let image = try Images.quadrants().png()
            let origin = OriginServer("/a.png", .bytes(image))
            try await withStack { stack in
                func get(
                    _ source: String, _ arguments: [String], to name: String
                ) throws -> CommandLineEnd {
                    try stack.get(
                        [source] + arguments + ["-o", folder.file(name)],
                        input: source == "-" ? image : nil)
                }
                for source in ["-", origin.url("/a.png")] {
                    #expect(try get(source, ["--rotate", "90"], to: "turned.webp").exitStatus == 0)
                    #expect(try format("turned.webp") == riff)
                    #expect(try get(source, [], to: "plain.JPG").exitStatus == 0)
                    #expect(try format("plain.JPG").starts(with: jpeg))
                    try get(source, ["--original"], to: "original.jpg").expect(0)
                    #expect(FileBytes.read(folder.file("original.jpg")) == image)
                    #expect(try get(source, [], to: "same.png").exitStatus == 0)
                    #expect(FileBytes.read(folder.file("same.png")) == image)

                    let twoFormats = try get(source, ["--format", "png"], to: "b.webp")
                    twoFormats.expect(64, "--format png does not match")
                    try get(source, [], to: "b.mp4").expect(64, "use jpeg, png, gif, tiff")
                    for asked in [["--format", "mp4"], ["--rotate", "90"]] {
                        try get(source, asked, to: "b.mp4").expect(64)
                    }
                    // A plug-in could encode that format; none is configured here.
                    for asked in [["--format", "bmp"], []] {
                        let refused = try get(source, asked, to: "b.bmp")
                        refused.expect(65, "no worker encodes bmp: use jpeg")
                    }
                    for name in ["b.bmp", "b.mp4"] {
                        #expect(FileBytes.read(folder.file(name)) == nil)
                    }
                }
            }
        }

        @Test func whatIsAcceptedChoosesTheFormat() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                for (words, format) in [
                    (["--accept", "webp,avif"], "avif"), (["--accept", "webp"], "webp"),
                    (["--accept", "webp", "--rotate", "90"], "webp"), ([], "png"),
                    (["--accept", "webp,avif", "--format", "jpeg"], "jpeg"),
                ] {
                    let end = try stack.get([origin.url("/a.png"), "--json"] + words).expect(0)
                    #expect(try end.json()["format"]?.text == format, "\(words)")
                }
                let other = try stack.get([origin.url("/a.png"), "--accept", "heic"])
                other.expect(64, "list of avif, webp, jxl")
            }
        }

        /// A newly made result doesn't come from a cache, even if its original does.
        @Test func whereAnImageCameFromIsSaid() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let url = origin.url("/a.png")
                let outputs = try [[], [], ["--rotate", "90"], ["--rotate", "90"]].map {
                    try stack.get([url] + $0).outputText
                }
                #expect(outputs[0].contains(", loaded, "), "\(outputs)")
                #expect(outputs[1].contains(", from memory, "), "\(outputs)")
                #expect(outputs[2].contains(", made from the original in disk, "), "\(outputs)")
                #expect(outputs[3].contains(", from memory, "), "\(outputs)")
            }
        }

        /// The extension selects another format than that of the source, which the first load
        /// reveals and the second one converts.
        @Test func bothLoadsOfAConversionAreReported() async throws {
            let origin = OriginServer()
            let image = try Images.quadrants().png()
            for name in ["a", "b"] { origin.route("/\(name).png", .bytes(image)) }
            let file = folder.file("converted.webp")
            try await withStack { stack in
                let said = try (0..<2).map { _ in
                    try stack.get([origin.url("/a.png"), "-o", file]).outputText
                }
                #expect(said[0].contains(", loaded, "), "\(said)")
                #expect(said[1].contains(", from memory, "), "\(said)")
                let line = [origin.url("/b.png"), "--json", "--explain", "-o", file]
                let answer = try stack.get(line).json()
                #expect(answer["cacheType"]?.text == "none", "\(answer)")
                #expect(answer["format"]?.text == "webp", "\(answer)")
                let bytes = answer["explanation"]?["fetched"]?["bytes"]?.integer
                #expect(bytes == image.count, "\(answer)")
                guard case .number(let fetch)? = answer["timings"]?["fetch"],
                    case .number(let total)? = answer["timings"]?["total"]
                else {
                    Issue.record("no timings: \(answer)")
                    return
                }
                #expect(fetch > 0 && total > fetch, "\(answer)")
            }
        }

        @Test func whatIsNoURLAndWhatIsMisspelledIsSaid() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try CommandLineRun(["get", "nonsense"]).end().expect(64, "imagebus get - <FILE")
            let misspelled = ["IMAGEBUS_RESISE": "5x5"]
            let end = try CommandLineRun(
                ["get", origin.url("/a.png"), "--private", "--allow-private-networks"],
                environment: misspelled
            ).end()
            let lines = end.errorText.split(separator: "\n").filter { $0.contains("RESISE") }
            #expect(lines.count == 1, "the private stack prints nothing: \(end)")
            #expect(lines.first?.hasPrefix("imagebus get: ") == true)
            #expect(lines.first?.hasSuffix("Did you mean IMAGEBUS_RESIZE?") == true)
        }

        @Test func wordsOfOthersDoNothingToATerminal() async throws {
            let image = try Images.quadrants().png()
            let origin = OriginServer("/a.png", .bytes(image))
            try await withStack { stack in
                let bad = "x\u{1B}]0;title\u{7}\u{9B}2J\u{202E}\ny"
                let named = try stack.get([origin.url("/a.png"), "-o", folder.file(bad)]).expect(0)
                #expect(FileBytes.read(folder.file(bad)) == image, "the file name is unchanged")
                let unknown = try stack.get([origin.url("/a.png"), "--option", bad]).expect(64)
                let asJSON = try stack.get([
                    origin.url("/a.png"), "--context", "image-transformer=\(bad)", "--json",
                ])
                let outputs = [
                    named.outputText, unknown.errorText, asJSON.outputText + asJSON.errorText,
                ]
                for text in outputs {
                    #expect(text.hasSuffix("\n"), "\(text)")
                    let harmful = text.unicodeScalars.dropLast().filter {
                        (0..<0x20).contains($0.value) || (0x7F..<0xA0).contains($0.value)
                            || $0.value == 0x202E
                    }
                    #expect(harmful.isEmpty, "\(text)")
                }
            }
        }
    }
}
