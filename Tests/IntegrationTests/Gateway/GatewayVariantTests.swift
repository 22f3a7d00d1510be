extension RealProcesses {
    /// The responses of one URL for clients with different `Accept` and hints, while the caches
    /// hold the variants of other clients.
    @Suite struct GatewayVariantTests {
        private let bench = GatewayBench()

        /// The media types that a client accepts, worked out by hand from `Accept`
        /// (RFC 9110 §12.5.1), limited to those available here; empty: none.
        private struct Client {
            let accept: String?
            let types: Set<String>

            init(_ accept: String?, _ types: Set<String> = GatewayVariantTests.all) {
                (self.accept, self.types) = (accept, types)
            }
        }

        private static let all: Set<String> = [
            "image/jpeg", "image/png", "image/webp", "image/avif", "image/gif",
        ]

        private static let clients = [
            Client(nil), Client("*/*"),
            Client("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"),
            Client("image/webp,*/*"), Client("image/webp", ["image/webp"]),
            Client("image/png", ["image/png"]), Client("image/jpeg", ["image/jpeg"]),
            Client("image/png,image/jpeg", ["image/png", "image/jpeg"]),
            Client(
                "image/avif;q=0,image/webp;q=0,*/*", all.subtracting(["image/avif", "image/webp"])),
            Client("image/jpeg;q=0,*/*", all.subtracting(["image/jpeg"])),
            Client("image/gif", ["image/gif"]), Client("text/html,image/*;q=0", []),
        ]

        /// The hints of a client, and the resulting width of its image if the path has no size, and
        /// if it has 40.
        private static let hints: [(fields: String, free: Int, stated: Int)] = [
            ("", 120, 40), ("Sec-CH-Width: 31\r\n", 32, 40), ("Width: 50\r\nDPR: 1.2\r\n", 64, 60),
            ("Sec-CH-Width: 9\r\nSec-CH-DPR: 2\r\nSave-Data: on\r\n", 32, 80),
        ]

        private static let files = ["/a.jpg", "/a.png", "/a.webp"]

        private func route() throws {
            let pixels = Images.waves(width: 120, height: 60)
            var alpha: [UInt8] = []
            for place in stride(from: 0, to: pixels.samples.count, by: 3) {
                alpha += pixels.samples[place..<place + 3] + [UInt8(place % 200 + 50)]
            }
            let veiled = Pixels(width: 120, height: 60, bands: 4, samples: alpha)
            for (name, bytes) in [
                ("/a.jpg", try pixels.jpeg(quality: 90)), ("/a.png", try veiled.png()),
                ("/a.webp", try pixels.webp(quality: 90)),
            ] {
                bench.origin.route(
                    name, .bytes(bytes).with(header: "Cache-Control", "max-age=6000"))
            }
        }

        private struct Combination {
            let file: String
            let client: Client
            let hint: (fields: String, free: Int, stated: Int)
            let saysSize: Bool
        }

        private static var combinations: [Combination] {
            files.flatMap { file in
                clients.flatMap { client in
                    hints.enumerated().flatMap { place, hint in
                        // Each hint with a size and without, on the files in turn.
                        [true, false].filter { $0 || place > 0 || file == "/a.png" }.map {
                            Combination(file: file, client: client, hint: hint, saysSize: $0)
                        }
                    }
                }
            }
        }

        /// The type of the bytes, determined by a decoder of the format and not from their head.
        private func seen(_ bytes: [UInt8], _ folder: TemporaryDirectory) throws
            -> (type: String, width: Int)
        {
            let file = folder.write(bytes, to: "image")
            if bytes.count > 12, bytes[4..<12].elementsEqual("ftypavif".utf8) {
                let info = try Tool.text(["avifdec", "--info", file])
                let line = info.split(separator: "\n").first { $0.contains("Resolution") }
                let words = line?.split { !$0.isNumber }.compactMap { Int($0) }
                return ("image/avif", words?.first ?? 0)
            }
            let text = try Tool.text(["identify", "-format", "%m %w\n", file])
            let words = text.split { $0.isWhitespace }
            return ("image/\(words[0].lowercased())", Int(words[1]) ?? 0)
        }

        @Test func nobodyIsGivenWhatWasMadeForSomebodyElse() async throws {
            try route()
            let arguments = [
                "--client-hints", "--hint-widths", "32,64,120", "--allow-origin", "*",
            ]
            let folder = TemporaryDirectory()
            var (tags, bodies): ([String: [UInt8]], [[UInt8]: String]) = ([:], [:])
            var (answered, refused) = (0, 0)
            var random = SeededGenerator(seed: 7)
            let combinations = Self.combinations.shuffled(using: &random)
            #expect(combinations.count >= 40)
            try await bench.run(arguments, decoders: 2) { gateway, _ in
                for one in combinations {
                    let accept = one.client.accept.map { "Accept: \($0)\r\n" } ?? ""
                    let target = bench.path(one.file, one.saysSize ? "w:40/el:1" : "")
                    let fields = accept + one.hint.fields
                    let image = try gateway.get(target, fields)
                    let note = "\(target) \(fields): \(image.head)"
                    let hints = one.saysSize ? "Sec-CH-DPR, DPR" : "Sec-CH-Width, Width"
                    #expect(image.field("Vary") == "Accept, Save-Data, \(hints)", "\(note)")
                    #expect(image.field("Accept-CH")?.contains("Sec-CH-Width") == true)
                    guard !one.client.types.isEmpty else {
                        #expect(image.status == 406, "\(note)")
                        refused += 1
                        continue
                    }
                    #expect(image.status == 200, "\(note)")
                    let (type, width) = try seen(image.body, folder)
                    #expect(image.field("Content-Type") == type, "\(note)")
                    #expect(one.client.types.contains(type), "\(note)")
                    #expect(width == (one.saysSize ? one.hint.stated : one.hint.free), "\(note)")
                    // A tag belongs to exactly one sequence of bytes.
                    let tag = try #require(image.field("ETag"), "\(note)")
                    #expect(tags.updateValue(image.body, forKey: tag) ?? image.body == image.body)
                    #expect(bodies.updateValue(tag, forKey: image.body) ?? tag == tag)
                    let again = try gateway.get(target, fields + "If-None-Match: \(tag)\r\n")
                    #expect(again.status == 304 && again.body.isEmpty, "\(note)")
                    for name in ["ETag", "Vary", "Accept-CH"] {
                        #expect(again.field(name) == image.field(name), "\(name) \(note)")
                    }
                    #expect(again.field("Cache-Control") != nil)
                    answered += 1
                }
            }
            #expect(answered >= 40 && refused > 0 && tags.count >= 20)
            // However many variants there are, each source was fetched once.
            for file in Self.files { #expect(bench.origin.requestCount(file) == 1) }
        }

        /// The members of a list may be in several fields (RFC 9110 §5.3); an invalid list is
        /// ignored then.
        @Test func linesOfOneFieldAreOneList() async throws {
            try route()
            let folder = TemporaryDirectory()
            try await bench.run { gateway, _ in
                let target = bench.path("/a.jpg", "w:40")
                let named = try gateway.get(
                    target, "Accept: text/html\r\nX: 1\r\naccept: image/webp\r\n")
                #expect(named.status == 200, "\(named.head)")
                #expect(try seen(named.body, folder).type == "image/webp")
                let refused = try gateway.get(
                    target, "Accept: */*\r\nAccept: image/jpeg;q=0\r\n")
                #expect(refused.status == 200, "\(refused.head)")
                #expect(try seen(refused.body, folder).type != "image/jpeg")
                let tag = try #require(named.field("ETag"))
                let known = try gateway.get(
                    target,
                    "Accept: image/webp\r\nIf-None-Match: \"1\"\r\nIf-None-Match: \(tag)\r\n")
                #expect(known.status == 304, "\(known.head)")
                let parts = try gateway.get(
                    target, "Accept: image/webp\r\nRange: bytes=0-1\r\nRange: bytes=2-3\r\n")
                #expect(parts.status == 200 && parts.body == named.body, "\(parts.head)")
            }
        }

        /// A format in the path isn't negotiated, so the response doesn't vary by `Accept`.
        @Test func whatThePathSaysDependsOnNothing() async throws {
            try route()
            try await bench.run { gateway, _ in
                var tags: Set<String> = []
                for accept in ["image/webp", "image/png", "text/html", "*/*;q=0"] {
                    let image = try gateway.get(
                        bench.path("/a.png", "w:40", "@png"), "Accept: \(accept)\r\n")
                    #expect(image.status == 200 && image.field("Vary") == nil)
                    #expect(image.field("Content-Type") == "image/png")
                    tags.insert(image.field("ETag") ?? "")
                }
                #expect(tags.count == 1)
            }
        }
    }
}
