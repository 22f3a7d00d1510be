extension RealProcesses {
    /// A worker gets no more work than others of its kind, whatever credit it announces.
    @Suite struct CreditTests {
        @Test(arguments: [WorkerKind.decode, .transform])
        func aWorkerThatClaimsCreditHoldsOneJob(_ kind: WorkerKind) async throws {
            try await withGallery { stack, client, gallery in
                var worker: WireWorker? = try WireWorker(kind, stack, credit: 1_000_000)
                try worker?.send(.credit(1_000_000))
                let ended = Recorder<Bool>()
                let loads = Gallery.choices.map { choice in
                    var request = gallery.request(choice, "credit-\(choice.side)")
                    request.options = .fromLoaderOnly
                    return Task { [request] in
                        let end = await ImageEnd(
                            of: client.load(request), expected: gallery.expected(choice))
                        ended.append(end == .right)
                    }
                }
                #expect(try worker?.job(within: defaultTimeout) != nil)
                // The other workers do all other jobs.
                #expect(await ended.wait(count: loads.count - 1) != nil)
                #expect(try worker?.job(within: .milliseconds(50)) == nil)
                let report = try await OperatorClient(client).status()
                let mine = report.processes(kind).filter {
                    $0.pid == UInt32(CurrentProcess.processID)
                }
                #expect(mine.map(\.credit) == [1])
                worker = nil
                #expect(await ended.wait(count: loads.count) == loads.map { _ in true })
            }
        }

        @Test func aProcessHasOneSessionAsAWorker() async throws {
            try await withStack { stack in
                let older = try WireWorker(.decode, stack, credit: 1)
                let other = try WireWorker(.transform, stack, credit: 1)
                let newest = try WireWorker(.decode, stack, credit: 1)
                for worker in [older, other] {
                    try worker.send(.credit(1))
                    guard case .helloRequired = try worker.receive(within: defaultTimeout) else {
                        Issue.record("an older session of the process goes on")
                        continue
                    }
                }
                let report = try await OperatorClient(stack.client()).status()
                let mine = report.processes.filter {
                    $0.pid == UInt32(CurrentProcess.processID)
                }
                #expect(mine.map(\.kind) == [.decode])
                try newest.send(.credit(1))
                #expect(try newest.receive(within: .milliseconds(50)) == nil)
            }
        }
    }
}
