import Wire

extension RealProcesses {
    /// A loader controlled by the test: the messages that it may send, and those that end its
    /// session.
    @Suite struct ExternalLoaderTests {
        private let folder = TemporaryDirectory()

        private func withLoader(
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            let text = """
                pools:
                  photos: {kind: download, trust: external, schemes: [photos], credit: 2}
                loaders:
                  photos: {kind: pool, pool: photos}
                profiles:
                  default:
                    rules:
                      - {match: "photos://sealed/*", decrypt: [gzip]}
                      - {match: "photos://kept/*", block: {foreign-failure: no}}

                """
            let path = folder.write(text, to: "imagebus.yaml")
            try await withStack(["--config", path], decoders: 1) { stack in
                try await body(stack, try stack.client())
            }
        }

        /// A worker with bytes in its own segment.
        private func worker(
            _ stack: StackHarness, _ bytes: [UInt8], takesReleases: Bool = false
        ) throws -> (WireWorker, LoaderBytes) {
            let worker = try WireWorker(external: "photos", stack, takesReleases: takesReleases)
            guard case .downloadSettings = try worker.receive(within: defaultTimeout) else {
                throw StackFailure("a worker was not told its settings", log: stack.logFile)
            }
            let kept = try LoaderBytes(bytes, of: worker, in: stack)
            try worker.announce()
            return (worker, kept)
        }

        /// The job contains the URL and headers of the request and the name of the pool, with
        /// default transfer terms, since rules aren't passed on.
        @Test func aLoaderIsToldTheURLItsHeadersAndItsPool() async throws {
            try await withLoader { stack, client in
                let (worker, kept) = try worker(stack, try Images.waves(width: 16, height: 8).png())
                defer { kept.remove() }
                var request = ImageRequest(url: "photos://me:secret@album/a.png")
                request.headers = [HTTPHeader(name: "X-Album", value: "summer")]
                let load = client.load(request)
                let job = try #require(try worker.job(within: defaultTimeout))
                guard case .fetch(let work) = job.work else {
                    Issue.record("\(job.work) came")
                    return
                }
                #expect(work.url == request.url && work.loader == .pool("photos"))
                #expect(work.headers == request.headers && work.terms == TransferTerms())
                try worker.send(.outcome(kept.outcome(of: job)))
                #expect(try await load.response.bytes?.array == kept.bytes)
            }
        }

        /// Each block is released once: with a job if the worker supports that, otherwise with a
        /// separate message.
        @Test(arguments: [false, true])
        func aReleaseComesWithTheNextJob(_ takesReleases: Bool) async throws {
            let count: UInt64 = 10
            try await withLoader { stack, client in
                let image = try Images.waves(width: 16, height: 8).png()
                let (worker, kept) = try worker(stack, image, takesReleases: takesReleases)
                defer { kept.remove() }
                var loads: [String: LoadTask] = [:]
                for number in 1...count {
                    let url = "photos://album/\(number).png"
                    loads[url] = client.load(ImageRequest(url, fit: 8, format: .png))
                }
                var (along, alone): ([BlockID], [BlockID]) = ([], [])
                var answered: UInt64 = 0
                while along.count + alone.count < count {
                    switch try #require(try worker.receive(within: defaultTimeout)) {
                    case .release(let blocks): alone += blocks
                    case .job(let job):
                        along += job.released
                        answered += 1
                        let block = BlockID(answered)
                        try worker.send(.outcome(kept.outcome(of: job, in: block)))
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
                let (worker, kept) = try worker(stack, [1])
                defer { kept.remove() }
                let error = await #expect(throws: ImageError.self) {
                    try await client.load(ImageRequest(url: "photos://sealed/a.png")).response
                }
                #expect(error?.code == .invalidDownloadOperation, "\(String(describing: error))")
                #expect(try worker.job(within: .zero) == nil)
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
                let (worker, kept) = try worker(stack, image + preview)
                defer { kept.remove() }
                var request = ImageRequest("photos://album/b.png", fit: 20, format: .png)
                request.options.insert(.progressiveLoad)
                request.timeoutMilliseconds = 120_000
                let task = client.load(request, wantsInfo: true)
                let job = try #require(try worker.job(within: defaultTimeout))
                #expect(job.wantsArrived)
                var progress = JobProgress(
                    id: job.id, attempt: job.attempt, received: 250, expected: 1_000,
                    arrived: kept.reference(UInt64(image.count)..., BlockID(2)), format: .webp,
                    isPreview: true)
                try worker.send(.progress(progress))
                var lastBlock: UInt64 = 2
                var (partials, infos): ([ImageResponse], [ImageInfo]) = ([], [])
                for await event in task.events {
                    switch event {
                    case .info(let info): infos.append(info)
                    case .partial(let partial):
                        partials.append(partial)
                        try worker.send(
                            .outcome(kept.outcome(of: job, length: UInt64(image.count))))
                    case .end(let result):
                        #expect(try result.get().info?.size == PixelSize(width: 20, height: 15))
                    case .progress(let update):
                        if update.received > 0 { #expect(update.received == 250) }
                        // No process had time to use it; it is sent again under another id.
                        if partials.isEmpty, case .release = try worker.receive() {
                            lastBlock += 1
                            progress.arrived?.block = BlockID(lastBlock)
                            try worker.send(.progress(progress))
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

/// Bytes in the segment of a loader.
private struct LoaderBytes {
    let bytes: [UInt8]
    private let folder: String
    private let name: String

    init(_ bytes: [UInt8], of worker: WireWorker, in stack: StackHarness) throws {
        self.bytes = bytes
        folder = "\(stack.runtimeDirectory)/arena/photos"
        name = "\(worker.incarnation.value.hex).\(Forgery.segment)"
        let file = try FileDescriptor.openDirectory(folder)
            .open(name, [.readWrite, .create], mode: 0o640)
        try file.reserve(byteCount: Int(Forgery.segmentBytes))
        try bytes.withUnsafeBytes { try file.writeAll($0, at: 64) }
    }

    func remove() { try? FileDescriptor.openDirectory(folder).unlink(name) }

    /// A reference to the bytes from an offset on.
    func reference(_ range: PartialRangeFrom<UInt64>, _ block: BlockID) -> BlockReference {
        BlockReference(
            segment: Forgery.segment, offset: 64 + range.lowerBound,
            length: UInt64(bytes.count) - range.lowerBound, block: block)
    }

    /// The first `length` bytes as the body of a job; nil: all.
    func outcome(
        of job: Job, length: UInt64? = nil, in block: BlockID = BlockID(1)
    ) -> JobOutcome {
        var reference = reference(0..., block)
        reference.length = length ?? reference.length
        return JobOutcome(
            id: job.id, attempt: job.attempt,
            result: .fetched(
                FetchedBody(
                    reference: reference, httpStatus: 200, effectiveURL: "photos://album/x",
                    format: .png)), workMicroseconds: 1_000)
    }
}
