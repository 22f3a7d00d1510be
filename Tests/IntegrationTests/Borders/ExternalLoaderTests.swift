import Wire

extension RealProcesses {
    /// A loader controlled by the test: the messages that it may send, and those that end its
    /// session.
    @Suite struct ExternalLoaderTests {
        private let folder = TemporaryDirectory()

        private func withLoader(
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            let rules = """
                profiles:
                  default:
                    rules:
                      - {match: "photos://sealed/*", decrypt: [gzip]}
                      - {match: "photos://kept/*", block: {foreign-failure: no}}

                """
            let path = folder.write(ExternalLoader.configuration + rules, to: "imagebus.yaml")
            try await withClient(["--config", path], decoders: 1, body: body)
        }

        /// The job contains the URL and headers of the request and the name of the pool, with
        /// default transfer terms, since rules aren't passed on.
        @Test func aLoaderIsToldTheURLItsHeadersAndItsPool() async throws {
            try await withLoader { stack, client in
                let image = try Images.waves(width: 16, height: 8).png()
                let loader = try ExternalLoader(stack, image)
                var request = ImageRequest(url: "photos://me:secret@album/a.png")
                request.headers = [HTTPHeader(name: "X-Album", value: "summer")]
                let load = client.load(request)
                let job = try loader.job()
                guard case .fetch(let work) = job.work else {
                    Issue.record("\(job.work) came")
                    return
                }
                #expect(work.url == request.url && work.loader == .pool("photos"))
                #expect(work.headers == request.headers && work.terms == TransferTerms())
                try loader.answer(job, image.count)
                #expect(try await load.response.bytes?.array == image)
            }
        }

        /// Each block is released once: with a job if the worker supports that, otherwise with a
        /// separate message.
        @Test(arguments: [false, true])
        func aReleaseComesWithTheNextJob(_ takesReleases: Bool) async throws {
            let count: UInt64 = 10
            try await withLoader { stack, client in
                let image = try Images.waves(width: 16, height: 8).png()
                let loader = try ExternalLoader(stack, image, takesReleases: takesReleases)
                var loads: [String: LoadTask] = [:]
                for number in 1...count {
                    let url = "photos://album/\(number).png"
                    loads[url] = client.load(ImageRequest(url, fit: 8, format: .png))
                }
                var (along, alone): ([BlockID], [BlockID]) = ([], [])
                var answered: UInt64 = 0
                while along.count + alone.count < count {
                    switch try #require(try loader.worker.receive(within: defaultTimeout)) {
                    case .release(let blocks): alone += blocks
                    case .job(let job):
                        along += job.released
                        answered += 1
                        try loader.answer(job, image.count, block: BlockID(answered))
                        guard case .fetch(let work) = job.work else { break }
                        _ = try await loads[work.url]?.response
                    default: break
                    }
                }
                #expect(Set(along + alone) == Set((1...count).map { BlockID($0) }))
                #expect(along.isEmpty != takesReleases, "\(along) with jobs, \(alone) alone")
            }
        }

        @Test func aRuleThatWouldNotBeKeptIsRefused() async throws {
            try await withLoader { stack, client in
                let loader = try ExternalLoader(stack, [1])
                let load = client.load("photos://sealed/a.png")
                #expect(await load.errorCode == .invalidDownloadOperation)
                #expect(try loader.worker.job(within: .zero) == nil)
            }
        }

        /// A preview is a complete image with its own size, longer than the chunk that the loader
        /// announces, and its header isn't reported as that of the final image.
        @Test func aLoaderShowsAPreviewFirst() async throws {
            let image = try Images.waves(width: 160, height: 120).png()
            let small = Images.quadrants(width: 40, height: 30)
            let preview = try small.webp(quality: 90)
            #expect(preview.count > 250)
            try await withLoader { stack, client in
                let loader = try ExternalLoader(stack, image + preview)
                var request = ImageRequest("photos://album/b.png", fit: 20, format: .png)
                request.options.insert(.progressiveLoad)
                request.timeoutMilliseconds = 120_000
                let task = client.load(request, wantsInfo: true)
                let job = try loader.job()
                #expect(job.wantsArrived)
                var progress = loader.preview(
                    of: job, at: image.count, preview.count, .webp, received: 250)
                try loader.worker.send(.progress(progress))
                var lastBlock: UInt64 = 2
                var (partials, infos): ([ImageResponse], [ImageInfo]) = ([], [])
                for await event in task.events {
                    switch event {
                    case .info(let info): infos.append(info)
                    case .partial(let partial):
                        partials.append(partial)
                        try loader.answer(job, image.count)
                    case .end(let result):
                        #expect(try result.get().info?.size == PixelSize(width: 20, height: 15))
                    case .progress(let update):
                        if update.received > 0 { #expect(update.received == 250) }
                        // No process had time to use it; it is sent again under another id.
                        if partials.isEmpty, case .release = try loader.worker.receive() {
                            lastBlock += 1
                            progress.arrived?.block = BlockID(lastBlock)
                            try loader.worker.send(.progress(progress))
                        }
                    case .cached: break
                    }
                }
                let shown = try #require(partials.first)
                #expect(partials.count == 1 && shown.arrivedBytes == UInt64(preview.count))
                let pixels = try Pixels(decoding: #require(shown.bytes).array)
                #expect(pixels.width == 20 && pixels.height == 15)
                for (x, y) in [(2, 2), (17, 2), (2, 12), (17, 12)] {
                    #expect(isClose(pixels.at(x, y), small.at(2 * x, 2 * y)), "preview pixel")
                }
                #expect(infos.allSatisfy { $0.size == PixelSize(width: 160, height: 120) })
            }
        }
    }
}
