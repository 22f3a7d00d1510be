extension RealProcesses {
    /// The main use case: an image from an HTTP server, fitted into a box, as JPEG; then from each
    /// tier.
    @Suite struct MainJobTests {
        @Test(arguments: [false, true])
        func anImageComesFromTheOriginThenFromMemoryThenFromDisk(isPhotograph: Bool) async throws {
            let image =
                isPhotograph
                ? try Fixtures.photo()
                : try Images.waves(width: 1362, height: 1112).jpeg(quality: 90)
            let size = "512x418"
            let origin = OriginServer("/photo.jpg", .jpeg(image))
            try await withStack { stack in
                let first = try load(origin, stack, tier: "none", size)
                #expect(try load(origin, stack, tier: "memory", size) == first)
                try stack.stop()
                try stack.start()
                #expect(try load(origin, stack, tier: "disk", size) == first)
            }
            #expect(origin.requestCount("/photo.jpg") == 1)
        }

        private func load(
            _ origin: OriginServer, _ stack: StackHarness, tier: String, _ size: String
        ) throws -> [UInt8] {
            let folder = TemporaryDirectory()
            let file = folder.file("out.jpg")
            let end = try stack.get(
                [origin.url("/photo.jpg"), "--resize", "512x512", "--mode", "fit"]
                    + ["--format", "jpeg", "--quality", "80", "-o", file, "--json"]
            ).expect(0)
            let answer = try end.json()
            let bytes = try #require(FileBytes.read(file))
            #expect(answer["status"]?.text == "ok")
            #expect(answer["cacheType"]?.text == tier)
            #expect(answer["format"]?.text == "jpeg")
            #expect(answer["bytes"]?.integer == bytes.count)
            #expect(answer["pages"]?.integer == 1)
            #expect(answer["error"] == .null)
            #expect(answer["fallbackFor"] == .null && answer["partials"] == .null)
            #expect(answer["token"]?.text?.count == 32)
            #expect(answer["digest"]?.text?.isEmpty == false)
            #expect(
                answer.names == [
                    "bits", "bytes", "cacheType", "damaged", "digest", "error", "explanation",
                    "extendedData", "facts", "fallbackFor", "format", "freshness", "hdr",
                    "height", "key", "notes", "pages", "partials", "refreshed", "scale", "status",
                    "stillOf",
                    "timings",
                    "token", "width",
                ])
            #expect(
                answer["timings"]?.names == [
                    "decode", "fetch", "query", "queue", "store", "total", "transform",
                ])
            #expect(try Pixels(decoding: bytes).size == size)
            #expect("\(answer["width"]?.integer ?? 0)x\(answer["height"]?.integer ?? 0)" == size)
            return bytes
        }
    }
}
