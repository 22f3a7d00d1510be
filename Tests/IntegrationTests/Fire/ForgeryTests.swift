extension RealProcesses {
    /// A worker that sends false outcomes loses its session, and the outcomes are discarded.
    @Suite struct ForgeryTests {
        static let kinds: [WorkerKind] = [.download, .decode, .transform]

        @Test(arguments: kinds)
        func aForgedOutcomeEndsTheSessionAndTheRequestGoesToAnother(
            _ kind: WorkerKind
        ) async throws {
            try await withGallery { stack, client, gallery in
                // A worker with one job at a time can't name a block that is already in use.
                let forgeries = Forgery.seen.filter {
                    $0 != .liveBlock || kind == .download
                }
                for forgery in forgeries {
                    let worker = try WireWorker(kind, stack, credit: 1_000)
                    try worker.announce()
                    let count = forgery == .liveBlock ? 2 : 1
                    let tasks = begin(count, "\(kind.name)-\(forgery)", client, gallery)
                    try worker.answer(count, with: forgery)
                    #expect(try worker.isRefused(), "\(kind.name): \(forgery)")
                    try await expectRight(tasks, gallery, "\(kind.name): \(forgery)")
                }
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == forgeries.count)
                #expect(report.processes.allSatisfy { $0.restarts == 0 })
            }
        }

        /// Outcomes for jobs that it doesn't hold have no effect.
        @Test(arguments: kinds)
        func anOutcomeOfAJobThatItDoesNotHoldIsReleasedAtOnce(_ kind: WorkerKind) async throws {
            try await withGallery { stack, client, gallery in
                var worker: WireWorker? = try WireWorker(kind, stack, credit: 1_000)
                try worker?.announce()
                let tasks = begin(1, "other", client, gallery)
                let job = try #require(try worker?.job(within: defaultTimeout))
                var strangers = [job, job, job]
                strangers[0].id = JobID(job.id.value + 1_000_000)
                strangers[1].id = JobID(1)
                strangers[2].attempt += 1
                for stranger in strangers {
                    try worker?.send(.outcome(Forgery.fileMissing.outcome(of: stranger)))
                    #expect(try worker?.isReleased(BlockID(1)) == true)
                }
                worker = nil
                try await expectRight(tasks, gallery, kind.name)
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 0)
            }
        }

        /// Only their readers can notice; if a decoder reports it, the cache checks.
        @Test(arguments: kinds, [Forgery.fileMissing, .fileTruncated])
        func aSegmentThatIsNotThereIsNotBelieved(
            _ kind: WorkerKind, _ forgery: Forgery
        ) async throws {
            try await withGallery { stack, client, gallery in
                let worker = try WireWorker(kind, stack, credit: 1_000)
                let file =
                    forgery == .fileTruncated
                    ? try worker.makeSegment(in: stack, of: kind.name, byteCount: 8_192) : nil
                defer { file?.remove() }
                try worker.announce()
                let tasks = begin(1, "\(forgery)", client, gallery)
                try worker.answer(1, with: forgery)
                #expect(try worker.isRefused(), "\(kind.name): \(forgery)")
                try await expectRight(tasks, gallery, "\(kind.name): \(forgery)")
                try await stack.awaitIdle()
            }
        }

        /// The number of other workers of each kind.
        private static let others = 2

        private typealias Load = (task: LoadTask, choice: Gallery.Choice)

        /// False outcomes of a transformation.
        enum Lie: String, CaseIterable, Sendable {
            case noBytes, hugeSize, anotherSize, anotherFormat, anotherImage
        }

        /// Neither delivered nor stored: what the coordinator can't check, the cache does by
        /// reading.
        @Test(arguments: Lie.allCases)
        func anImageThatIsNotWhatWasAskedForIsMadeByAnother(_ lie: Lie) async throws {
            try await withGallery { stack, client, gallery in
                let worker = try WireWorker(.transform, stack, credit: 1)
                let file = try worker.makeSegment(in: stack)
                defer { file.remove() }
                try worker.announce()
                let tasks = begin(1, "\(lie)", client, gallery)
                let job = try #require(try worker.job(within: defaultTimeout))
                try worker.send(.outcome(try lie.outcome(of: job, in: file)))
                #expect(try worker.isRefused(), "\(lie)")
                try await expectRight(tasks, gallery, "\(lie)")
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 1)
                #expect(report.counter("quarantined") == 0)
            }
        }

        /// Starts `wanted` loads for this worker, and as many for each of the other workers of the
        /// kind, since they take turns.
        private func begin(
            _ wanted: Int, _ variant: String, _ client: ImagebusClient, _ gallery: Gallery
        ) -> [Load] {
            Gallery.choices.prefix(wanted * (1 + Self.others)).map { choice in
                var request = gallery.request(choice, variant + "-\(choice.side)")
                request.options = .fromLoaderOnly
                return (client.load(request), choice)
            }
        }

        private func expectRight(
            _ loads: [Load], _ gallery: Gallery, _ what: String
        ) async throws {
            for load in loads {
                let end = await ImageEnd(
                    of: load.task, expected: gallery.expected(load.choice))
                #expect(end == .right, "\(what)")
            }
        }
    }
}

extension RealProcesses.ForgeryTests.Lie {
    /// The false outcome for a job.
    func outcome(of job: Job, in file: WireWorker.SegmentFile) throws -> JobOutcome {
        guard case .transform(let work) = job.work, var size = work.resultSize else {
            throw StackFailure("no job of a transformer")
        }
        var format = work.resultFormat(hasAlpha: false)
        var reference = Forgery.honest(BlockID(1))
        switch self {
        case .noBytes: reference.length = 0
        case .hugeSize: size = PixelSize(width: 4_294_967_295, height: 4_294_967_295)
        case .anotherSize: size.width += 1
        case .anotherFormat: format = .png
        case .anotherImage: try file.write(Images.noise(width: 9, height: 9).jpeg(quality: 50))
        }
        return JobOutcome(
            id: job.id, attempt: job.attempt,
            result: .transformed(
                EncodedImage(reference: reference, info: ImageInfo(format: format, size: size))),
            workMicroseconds: 1_000)
    }
}

extension WireWorker {
    /// Announces the segment that forged outcomes refer to.
    func announce() throws {
        try send(
            .segmentsOpened([
                SegmentAnnouncement(
                    arena: .stage, number: Forgery.segment, size: Forgery.segmentBytes)
            ]))
    }

    /// Takes `count` jobs and answers all of them with the same forgery.
    func answer(_ count: Int, with forgery: Forgery) throws {
        var jobs: [Job] = []
        while jobs.count < count {
            guard let job = try job(within: defaultTimeout) else {
                throw StackFailure("the worker with the most room got no job")
            }
            jobs.append(job)
        }
        for job in jobs { try send(.outcome(forgery.outcome(of: job)), altered: forgery.altered) }
    }

    /// Whether the coordinator releases the block within `limit`.
    func isReleased(_ block: BlockID, within limit: Duration = defaultTimeout) throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while ContinuousClock.now < deadline {
            if case .release(let blocks) = try receive(within: .milliseconds(50)) {
                return blocks == [block]
            }
        }
        return false
    }
}
