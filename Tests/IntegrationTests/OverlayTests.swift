extension RealProcesses {
    /// Overlays (PROTOCOL §8.8).
    @Suite struct OverlayTests {
        private let origin = OriginServer()
        private let marks = OriginServer()

        init() throws {
            let png = try Images.quadrants().png()
            origin.route("/a.png", .bytes(png))
            origin.route("/b.png", .bytes(png))
            marks.route("/mark.png", .bytes(png))
        }

        private func request(
            _ path: String = "/a.png", over urls: [String], x: Int = 0, y: Int = 0
        ) -> ImageRequest {
            var request = ImageRequest(origin.url(path), fit: 1_000)
            request.steps += urls.map { .overlay(Overlay(url: $0, x: x, y: y)) }
            request.output.format = .png
            return request
        }

        @Test func itsPixelsAreWhereTheRequestSays() async throws {
            try await withClient { _, client in
                let plain = try await client.load(request(over: [])).response
                let bare = try Pixels(decoding: plain.bytes?.array ?? [])
                let size = try #require(plain.info?.size)
                let (x, y) = (size.width / 2, size.height / 2)
                let image = try await client.load(
                    request(over: [marks.url("/mark.png")], x: x, y: y)
                ).response
                let pixels = try Pixels(decoding: image.bytes?.array ?? [])
                #expect(pixels.size == bare.size)
                // Its first quarter begins in the middle.
                #expect(isClose(pixels.at(x + 2, y + 2), bare.at(2, 2)))
                #expect(isClose(pixels.at(2, 2), bare.at(2, 2)))
                #expect(isClose(pixels.at(x - 3, y - 3), bare.at(x - 3, y - 3)))
                #expect(image.key.contains("ImagebusOverlayTransformer("))
                let again = try await client.load(
                    request(over: [marks.url("/mark.png")], x: x, y: y)
                ).response
                #expect(again.cacheType == .memory)
            }
        }

        @Test func credentialsOfTheLoadAreNotForTheOriginOfTheOverlay() async throws {
            try await withClient { _, client in
                var request = request(over: [marks.url("/mark.png")])
                request.headers = [HTTPHeader(name: "Authorization", value: "Bearer 1")]
                _ = try await client.load(request).response
                #expect(
                    origin.requests("/a.png").first?.header("authorization") == "Bearer 1")
                let asked = marks.requests("/mark.png")
                #expect(asked.count == 1)
                #expect(asked.allSatisfy { $0.header("authorization") == nil })
            }
        }

        @Test func twoLoadsShareOneTransferOfTheOverlay() async throws {
            try await withClient { stack, client in
                let tasks = ["/a.png", "/b.png"].map {
                    client.load(request($0, over: [marks.url("/mark.png")]))
                }
                for task in tasks { _ = try await task.response }
                _ = try await stack.awaitIdle()
                #expect(marks.requests("/mark.png").count == 1)
            }
        }

        @Test func anOverlayThatIsNotThereFailsTheLoadOrHasItsFallback() async throws {
            try await withClient { _, client in
                var request = request(over: [marks.url("/none.png")])
                let error = await client.load(request).failure
                #expect(error?.code == .stepFailed)
                #expect(error?.details["overlay"] == "invalidDownloadStatusCode")
                #expect(error?.details["httpStatus"] == "404")
                #expect(origin.requests("/a.png").isEmpty)
                request.context.fallback = .url(origin.url("/b.png"))
                let image = try await client.load(request).response
                #expect(image.fallbackFor?.code == .stepFailed)
            }
        }

        @Test func anAddressThatIsForbiddenIsForbiddenToOverlays() async throws {
            try await withClient(["--allow-address", origin.authority]) { _, client in
                let task = client.load(request(over: [marks.url("/mark.png")]))
                #expect(await task.failure?.details["overlay"] == "addressForbidden")
                #expect(marks.requests("/mark.png").isEmpty)
            }
        }

        @Test func fiveAreRefused() async throws {
            try await withStack { stack in
                try stack.get(
                    [origin.url("/a.png"), "-o", "-"]
                        + Array(repeating: ["--overlay", marks.url("/mark.png")], count: 5)
                        .flatMap { $0 }
                ).expect(64)
                #expect(marks.requests("/mark.png").isEmpty)
            }
        }
    }
}
