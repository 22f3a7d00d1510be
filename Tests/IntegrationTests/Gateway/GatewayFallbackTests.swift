extension RealProcesses {
    /// Fallback images for images that can't be loaded.
    @Suite struct GatewayFallbackTests {
        private let bench = GatewayBench()

        private func red() throws -> [UInt8] {
            try Pixels(
                width: 40, height: 20, bands: 3,
                samples: [UInt8](repeating: 0, count: 2_400).enumerated().map {
                    $0.offset % 3 == 0 ? 250 : 10
                }
            ).png()
        }

        private func expectRed(_ image: RawClient.Response, _ code: String) throws {
            #expect(image.field("X-Imagebus-Fallback") == code, "\(image.head)")
            let pixels = try Pixels(decoding: image.body)
            #expect(pixels.size == "20x10" && isClose(pixels.at(10, 5), [250, 10, 10]))
        }

        @Test func aURLIsShownAsTheOperatorSays() async throws {
            bench.origin.route("/red.png", .bytes(try red()))
            bench.origin.route("/page", .bytes(Array("<html>".utf8), contentType: "text/html"))
            bench.origin.route("/500", .status(500))
            let arguments = [
                "--fallback", bench.origin.url("/red.png"), "--fallback-status", "error",
                "--fallback-max-age", "7", "--fallback-for", "404,badImageData",
            ]
            try await bench.run(arguments) { gateway, _ in
                for (name, code, status) in [
                    ("/none.jpg", "invalidDownloadStatusCode", 404), ("/page", "badImageData", 422),
                    // The second time the stack doesn't ask the origin.
                    ("/page", "badImageData", 422),
                ] {
                    let image = try gateway.get(bench.path(name, "rs:fit:20:20", "@png"))
                    #expect(image.status == status)
                    #expect(image.field("Cache-Control") == "public, max-age=7")
                    try expectRed(image, code)
                }
                // Only for the listed errors, and not for invalid options.
                let failed = try gateway.get(bench.path("/500"))
                #expect(failed.status == 502 && failed.field("X-Imagebus-Fallback") == nil)
                #expect(try gateway.get("/unsafe/w:x/plain/http://a/b").status == 400)
            }
        }

        /// Of any size: the second one is followed by additional bytes.
        @Test(arguments: [0, 200_000])
        func aFileIsShownToo(more: Int) async throws {
            let folder = TemporaryDirectory()
            let bytes = try red() + [UInt8](repeating: 7, count: more)
            let file = folder.write(bytes, to: "red.png")
            try await bench.run(["--fallback", file]) { gateway, _ in
                let image = try gateway.get(bench.path("/none.jpg", "rs:fit:20:20", "@png"))
                #expect(image.status == 200)
                #expect(image.field("Cache-Control") == "public, max-age=60")
                try expectRed(image, "invalidDownloadStatusCode")
                let tag = try #require(image.field("ETag"))
                let again = try gateway.get(
                    bench.path("/none.jpg", "rs:fit:20:20", "@png"), "If-None-Match: \(tag)\r\n")
                #expect(again.status == 304)
            }
        }

        @Test func whatFailsInItsPlaceIsNotTold() async throws {
            try await bench.run(["--fallback", bench.origin.url("/red.png")]) { gateway, _ in
                let answer = try gateway.get(bench.path("/none.jpg"))
                #expect(answer.status == 404 && answer.field("Cache-Control") == "no-store")
                #expect(answer.field("Content-Type") == "text/plain; charset=utf-8")
            }
        }
    }
}
