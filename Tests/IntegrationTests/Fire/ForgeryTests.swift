import ImageModel
import Imagebus
import Linux
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// A worker that lies loses its session, and nobody believes what it said.
    @Suite struct ForgeryTests {
        static let kinds: [WorkerKind] = [.download, .decode, .transform]

        @Test(arguments: kinds)
        func aForgedOutcomeEndsTheSessionAndTheRequestGoesToAnother(
            _ kind: WorkerKind
        ) async throws {
            try await withGallery { stack, client, gallery in
                for forgery in Forgery.seen {
                    let worker = try WireWorker(kind, stack, credit: 1_000)
                    try worker.announce()
                    let count = forgery == .liveBlock ? 2 : 1
                    let tasks = begin(count, "\(kind.name)-\(forgery)", client, gallery)
                    try worker.answer(count, with: forgery)
                    #expect(try worker.isRefused(), "\(kind.name): \(forgery)")
                    try await expectRight(tasks, gallery, "\(kind.name): \(forgery)")
                }
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == Forgery.seen.count)
                #expect(report.processes.allSatisfy { $0.restarts == 0 })
            }
        }

        /// What is said about other jobs counts for nothing.
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

        /// Only who reads them can see that; where a decoder says so, the cache looks.
        @Test(arguments: kinds, [Forgery.fileMissing, .fileTruncated])
        func aSegmentThatIsNotThereIsNotBelieved(
            _ kind: WorkerKind, _ forgery: Forgery
        ) async throws {
            try await withGallery { stack, client, gallery in
                let worker = try WireWorker(kind, stack, credit: 1_000)
                let folder = try FileDescriptor.openDirectory(
                    "\(stack.runtimeDirectory)/arena/\(kind.name)")
                let name = "\(worker.incarnation.value.hex).\(Forgery.segment)"
                if forgery == .fileTruncated {
                    try folder.open(name, [.readWrite, .create]).reserve(byteCount: 8_192)
                }
                defer { try? folder.unlink(name) }
                try worker.announce()
                let tasks = begin(1, "\(forgery)", client, gallery)
                try worker.answer(1, with: forgery)
                #expect(try worker.isRefused(), "\(kind.name): \(forgery)")
                try await expectRight(tasks, gallery, "\(kind.name): \(forgery)")
                try await stack.awaitIdle()
            }
        }

        private typealias Load = (task: LoadTask, choice: Gallery.Choice)

        private func withGallery(
            _ body: (StackHarness, ImagebusClient, Gallery) async throws -> Void
        ) async throws {
            try await withStack { stack in
                let client = try stack.client()
                try await body(stack, client, Gallery(learnedBy: client))
            }
        }

        private func begin(
            _ count: Int, _ variant: String, _ client: ImagebusClient, _ gallery: Gallery
        ) -> [Load] {
            Gallery.choices.prefix(count).map { choice in
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

extension WireWorker {
    /// Says that it made the segment which forged outcomes refer to.
    func announce() throws {
        try send(
            .segmentsOpened([
                SegmentAnnouncement(
                    arena: .stage, number: Forgery.segment, size: Forgery.segmentBytes)
            ]))
    }

    /// Takes so many jobs and answers all of them in the same way.
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

    /// Whether the coordinator says within the time that the block is free.
    func isReleased(_ block: BlockID) throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        while ContinuousClock.now < deadline {
            if case .release(let blocks) = try receive(within: .milliseconds(50)) {
                return blocks == [block]
            }
        }
        return false
    }
}
