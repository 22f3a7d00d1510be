extension RealProcesses {
    /// Serializers: cache entries whose bytes differ from the delivered ones (SEMANTICS §5.8).
    @Suite struct SerializerTests {
        private static let fromDisk = [
            "--option", "from-cache-only", "--context", "query-cache-type=disk", "-o", "-",
        ]
        private static let waiting = ["--option", "wait-store-cache", "-o", "-"]

        private func serialized(_ serializer: String) -> [String] {
            ["--context", "cache-serializer=\(serializer)"]
        }

        private func format(_ bytes: [UInt8]) -> ImageFormat {
            ImageFormat.sniff(bytes, tail: bytes.suffix(ImageFormat.sniffedBytes))
        }

        @Test func aResultIsKeptInAnotherFormatThanItIsDeliveredIn() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack(["--allow-address", origin.authority]) { stack in
                let request = [
                    origin.url("/a.png"), "--resize", "100x100", "--format", "jpeg",
                ]
                let produced = try stack.get(
                    request + Self.waiting + serialized("transcode:webp:70"))
                #expect(format(produced.output) == .jpeg, "\(produced.errorText)")
                let kept = try stack.get(request + Self.fromDisk)
                #expect(format(kept.output) == .webp, "\(kept.errorText)")
                let pixels = try Pixels(decoding: kept.output)
                #expect(pixels.width == 100 && pixels.height == 75)
                #expect(isClose(pixels.at(10, 10), Images.red))
                // Both tiers have the same bytes.
                #expect(try stack.get(request + ["-o", "-"]).output == kept.output)
                // The original was stored this way as well.
                let original = try stack.get([request[0]] + Self.fromDisk)
                #expect(format(original.output) == .webp)
            }
        }

        @Test func whatIsNoSerializerIsRefused() async throws {
            try await withStack { stack in
                let url = "http://127.0.0.1:1/a.jpg"
                for (serializer, name) in [
                    ("small", "invalidRequest"), ("transcode:bmp", "unsupportedFormat"),
                ] {
                    let run = try stack.get([url, "--json"] + serialized(serializer))
                    #expect(try run.json()["error"]?["name"]?.text == name, "\(run)")
                }
                let bmp = try stack.get([url] + serialized("transcode:bmp"))
                #expect(bmp.errorText.contains("this version does not encode bmp; use jpeg, png"))
                try stack.get([url] + serialized("transcode:webp:101")).expect(64)
            }
        }
    }
}
