extension RealProcesses {
    /// EXIF, XMP and IPTC in responses (WEB §5.10). exiftool writes the sources and reads the
    /// responses, Pillow compares their pixels.
    @Suite struct GatewayMetadataTests {
        private let bench = GatewayBench()
        private static let formats = ["jpg", "png", "webp"]

        init() throws {
            for format in Self.formats {
                bench.origin.route("/a.\(format)", .bytes(try MarkedFile.bytes(format)))
            }
        }

        /// Paths that don't change the image, in each grammar.
        private func targets(_ grammar: String, _ format: String) -> [String] {
            let url = bench.origin.url("/a.\(format)")
            return switch grammar {
            case "thumbor": ["/unsafe/\(url)", "/unsafe/0x0/\(url)"]
            default:
                ["", "att:1", "w:0", "h:0", "rs:fit:0:0", "fn:b", "cb:1"].map { options in
                    bench.path("/a.\(format)", options)
                }
            }
        }

        /// The image isn't processed: its pixels stay byte for byte the same, it is displayed as
        /// before, and it has no location.
        @Test(arguments: formats)
        func unchangedImagesHaveNoPlace(format: String) async throws {
            let source = try MarkedFile.bytes(format)
            for grammar in ["imgproxy", "thumbor"] {
                try await bench.run(["--grammar", grammar]) { gateway, _ in
                    for target in targets(grammar, format) {
                        for accept in ["", "Accept: image/png,image/jpeg,image/*;q=0.8\r\n"] {
                            let answer = try gateway.get(target, accept)
                            #expect(answer.status == 200, "\(target) \(answer.head)")
                            let tags = try MarkedFile.tags(answer.body)
                            #expect(tags == MarkedFile.rights(format), "\(target)")
                            #expect(MarkedFile.secrets(in: answer.body) == [], "\(target)")
                            #expect(
                                try MarkedFile.pixels(answer.body) == MarkedFile.pixels(source),
                                "\(target)")
                        }
                    }
                }
            }
        }

        /// IIIF names the format: the image is encoded, upright, without a location.
        @Test func anImageOfIIIFHasNoPlace() async throws {
            let template = bench.origin.url("/{id}")
            try await bench.run(["--grammar", "iiif", "--iiif-source", template]) { gateway, _ in
                for format in ["jpg", "png", "webp"] {
                    let answer = try gateway.get("/a.jpg/full/max/0/default.\(format)")
                    #expect(answer.status == 200, "\(answer.head)")
                    #expect(MarkedFile.secrets(in: answer.body) == [])
                    let tags = try MarkedFile.tags(answer.body)
                    #expect(tags.contains("Artist=Ada Lovelace"), "\(tags)")
                    #expect(!tags.contains { $0.hasPrefix("Orientation") })
                }
            }
        }

        /// The policy applies to changed and unchanged images; a path may select another policy,
        /// and only `raw` returns the source unchanged.
        @Test(arguments: formats)
        func theListenerAndThePathSayWhatIsKept(format: String) async throws {
            let source = try MarkedFile.bytes(format)
            for (policy, options, keeps) in [
                ("none", "", ""), ("none", "w:20", ""), ("none", "sm:0", "all"),
                ("none", "kcr:1", "rights"), ("copyright", "w:20", "rights"),
                ("copyright", "sm:1", ""), ("copyright", "raw:1", "all"), ("none", "raw:1", "all"),
                ("all", "", "all"), ("all", "w:20", "all"), ("all", "sm:1", ""),
                ("all", "kcr:1", "rights"),
            ] {
                try await bench.run(["--metadata", policy]) { gateway, _ in
                    let answer = try gateway.get(bench.path("/a.\(format)", options))
                    let case_ = "\(policy) \(options): \(answer.head)"
                    #expect(answer.status == 200, "\(case_)")
                    let tags = try MarkedFile.tags(answer.body)
                    let hasPlace = tags.contains { $0.hasPrefix("GPS") }
                    #expect(hasPlace == (keeps == "all"), "\(case_) \(tags)")
                    #expect(tags.contains("Artist=Ada Lovelace") == !keeps.isEmpty, "\(case_)")
                    if keeps != "all" {
                        #expect(MarkedFile.secrets(in: answer.body) == [], "\(case_)")
                    }
                    if keeps == "all", options != "w:20" {
                        #expect(answer.body == source, "\(case_)")
                    }
                }
            }
        }

        /// A file that can't be parsed completely is re-encoded or rejected.
        @Test func damagedFilesAreNeverSentWithThePlace() async throws {
            var damaged: [String: [UInt8]] = [:]
            for format in Self.formats {
                let file = try MarkedFile.bytes(format)
                for part in 1..<12 {
                    let end = file.count * part / 12
                    damaged["/\(format)-cut-\(part).\(format)"] = Array(file[..<end])
                    var other = file
                    for place in end..<min(file.count, end + 3) { other[place] = 0xFF }
                    damaged["/\(format)-hit-\(part).\(format)"] = other
                }
            }
            for (path, bytes) in damaged { bench.origin.route(path, .bytes(bytes)) }
            try await bench.run { gateway, _ in
                var statuses = Set<Int>()
                for path in damaged.keys.sorted() {
                    let answer = try gateway.get(bench.path(path, ""))
                    statuses.insert(answer.status)
                    #expect([200, 415, 422].contains(answer.status), "\(path) \(answer.head)")
                    let left = MarkedFile.secrets(in: answer.body)
                    #expect(left == [], "\(path) \(answer.status)")
                }
                #expect(statuses.contains(200) && statuses.count > 1)
            }
        }

        /// The cache has results of a stack without revisions, and their originals: the results are
        /// regenerated, and nothing with a location is delivered from the originals.
        @Test func anOlderCacheGivesAwayNoPlace() async throws {
            let stale = "/a.jpg"
            try await bench.run { gateway, stack in
                let url = bench.origin.url(stale)
                let paths = ["", "att:1", "w:20"].map { bench.path(stale, $0) }
                for path in paths { #expect(try gateway.get(path).status == 200) }
                #expect(
                    try stack.get([url, "--resize", "20x20", "--option", "wait-store-cache"])
                        .exitStatus == 0)
                try stack.stop()
                try MarkedFile.makeOlder(stack.cacheDirectory, source: url)
                try stack.start()
                let after = try GatewayProcess(before: stack, ["--unsigned"])
                for path in paths {
                    let answer = try after.get(path)
                    #expect(answer.status == 200)
                    #expect(MarkedFile.secrets(in: answer.body) == [], "\(path)")
                    #expect(try MarkedFile.tags(answer.body).contains("Artist=Ada Lovelace"))
                }
                let folder = TemporaryDirectory()
                let file = folder.file("made.jpg")
                #expect(
                    try stack.get([url, "--resize", "20x20", "-o", file]).exitStatus == 0)
                let produced = try #require(FileBytes.read(file))
                #expect(MarkedFile.secrets(in: produced) == [])
            }
        }
    }
}
