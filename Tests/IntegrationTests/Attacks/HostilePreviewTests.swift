extension RealProcesses {
    /// Previews of hostile data and partial images of damaged files: none of them is cached or
    /// delivered to other clients.
    @Suite struct HostilePreviewTests {
        private let folder = TemporaryDirectory()
        private let origin = OriginServer()

        private func request(_ url: String) -> ImageRequest {
            var request = ImageRequest(url, fit: 40, format: .png)
            request.options = .progressiveLoad
            request.timeoutMilliseconds = 60_000
            return request
        }

        private func kept(
            _ url: String, _ client: ImagebusClient, _ headers: [HTTPHeader] = []
        ) async -> [UInt8]? {
            var request = ImageRequest(url, fit: 40, format: .png)
            request.options = .fromCacheOnly
            request.headers = headers
            return try? await client.load(request).response.bytes?.array
        }

        private func pixel(of image: ImageResponse) throws -> [UInt8] {
            try Pixels(decoding: #require(image.bytes).array).at(6, 6)
        }

        /// A preview that no decoder accepts, or that exceeds the image limits.
        @Test func aHostilePreviewIsNotShownAndNotKept() async throws {
            let image = try Images.quadrants(width: 80, height: 60).png()
            var huge = image
            huge.replaceSubrange(16..<24, with: [0, 0, 0x40, 0, 0, 0, 0x40, 0])
            let previews: [(name: String, bytes: [UInt8], stated: ImageFormat)] = [
                ("noise", (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 131) }, .png),
                ("huge", huge, .png),
                ("another", try Images.waves(width: 9, height: 9).png(), .jpeg),
                ("svg", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), .webp),
            ]
            let path = folder.write(Array(ExternalLoader.configuration.utf8), to: "imagebus.yaml")
            try await withClient(["--config", path], decoders: 1) { stack, client in
                let processes = Set(stack.children.map(\.processID))
                for preview in previews {
                    let loader = try ExternalLoader(stack, image + preview.bytes)
                    let url = "photos://album/\(preview.name).png"
                    let task = client.load(request(url), wantsInfo: true)
                    let job = try loader.job()
                    try loader.worker.send(
                        .progress(
                            loader.preview(
                                of: job, at: image.count, preview.bytes.count, preview.stated,
                                received: 10)))
                    // After its block was released, or after some time.
                    _ = try? loader.worker.isReleased(BlockID(2), within: .seconds(1))
                    #expect(await kept(url, client) == nil)
                    try loader.answer(job, image.count)
                    let last = try await task.response.bytes?.array
                    for await event in task.events {
                        if case .partial = event, preview.name != "another" {
                            Issue.record("\(preview.name) was shown")
                        }
                    }
                    #expect(try isClose(Pixels(decoding: #require(last)).at(5, 5), Self.corner))
                    #expect(await kept(url, client) == last)
                }
                #expect(Set(stack.children.map(\.processID)) == processes)
            }
        }

        private static let corner = Images.quadrants(width: 80, height: 60).at(10, 10)

        /// Delivered partial images don't make it a valid image.
        @Test(arguments: [true, false])
        func aDamagedImageIsNotKeptAlthoughPartsWereShown(isCut: Bool) async throws {
            let whole = try Images.waves(width: 640, height: 480)
                .jpeg(quality: 90, progressive: true)
            var bytes = whole
            for place in whole.count / 2..<whole.count { bytes[place] = isCut ? 0xFF : 0xD8 }
            let turnstile = Turnstile()
            let chunk = bytes.count / 20
            if isCut {
                origin.route(
                    "/cut.jpg",
                    .stepped(Array(bytes[..<(whole.count / 2)]), chunk: chunk, by: turnstile)
                        .changed { $0.length = .declared(whole.count) })
            } else {
                origin.route("/cut.jpg", .stepped(bytes, chunk: chunk, by: turnstile))
            }
            let url = origin.url("/cut.jpg")
            let options = ["--allow-private-networks", "--fetch-retries", "0"]
            try await withClient(options) { stack, client in
                let decoders = stack.processes("decode").count
                let task = client.load(request(url), wantsInfo: true)
                turnstile.admit(6)
                var partials = 0
                for await event in task.events {
                    switch event {
                    case .partial:
                        partials += 1
                        turnstile.admit(20)
                    case .progress(let progress) where progress.received >= UInt64(chunk * 6):
                        // If too little data has arrived to show anything.
                        turnstile.admit(1)
                    default: break
                    }
                    turnstile.admit(2)
                }
                #expect(await task.errorCode != nil)
                #expect(await kept(url, client) == nil)
                // On a busy machine a decoder may not stop in time; it is then replaced.
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(!log.contains("cause=\"signal"), "no process crashed")
                let report = try await stack.awaitStatus("all decoders") {
                    $0.processes(.decode).count { $0.state == "ready" } == decoders
                }
                #expect(report.processes(.decode).count == decoders)
            }
        }

        /// Two HTTP clients with their own headers load one URL at the same time.
        @Test func partsAreNotSharedByVisitorsWithOtherHeaders() async throws {
            let colors: [String: [UInt8]] = ["ann": [254, 0, 0], "bob": [0, 0, 254]]
            let images = try colors.mapValues { color in
                try Pixels(
                    width: 640, height: 480, bands: 3,
                    samples: (0..<640 * 480).flatMap { _ in color }
                ).jpeg(quality: 90, progressive: true)
            }
            let turnstile = Turnstile()
            origin.route(
                "/mine.jpg",
                OriginBehavior { request in
                    let bytes = images[request.header("x-visitor") ?? ""] ?? []
                    var response = OriginResponse(bytes, contentType: "image/jpeg")
                    response.pace = .stepped(bytes: bytes.count / 20 + 1, turnstile)
                    return response
                })
            let url = origin.url("/mine.jpg")
            try await withClient { _, client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (httpClient, color) in colors {
                        group.addTask {
                            var request = request(url)
                            request.headers = [HTTPHeader(name: "X-Visitor", value: httpClient)]
                            for await event in client.load(request).events {
                                turnstile.admit(21)
                                switch event {
                                case .partial(let partial):
                                    // Gray where nothing has arrived, and a mixture in between.
                                    let shown = try pixel(of: partial)
                                    let own = Int(shown[httpClient == "ann" ? 0 : 2])
                                    let other = Int(shown[httpClient == "ann" ? 2 : 0])
                                    #expect(other <= own + 30, "\(httpClient): \(shown)")
                                case .end(let result):
                                    let shown = try pixel(of: result.get())
                                    #expect(
                                        isClose(shown, color, by: 10), "\(httpClient): \(shown)")
                                default: break
                                }
                            }
                        }
                    }
                    turnstile.admit(20)
                    try await group.waitForAll()
                }
                #expect(origin.requestCount("/mine.jpg") == 2)
                #expect(await kept(url, client) == nil, "other clients find neither")
            }
        }
    }
}
