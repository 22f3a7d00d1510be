import Model
import Testing

@testable import Coordinator

/// A request for a pool without workers waits until its deadline, and its error states the reason.
struct MissingWorkersTests {
    private static let gif = WorkerPool(name: PoolName("scans") ?? PoolName(.cache), kind: .decode)
        .with {
            $0.grant = WorkerCapabilities(formatsIn: ["gif"])
            $0.trust = .external
        }

    @Test(arguments: [WorkerKind.download, .cache, .decode, .transform])
    func theErrorNamesThePoolThatIsMissing(kind: WorkerKind) throws {
        var stack = Stack()
        for other in WorkerKind.workers where other != kind { stack.hire(other) }
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5), by: client)
        stack.finishEverything()
        stack.pass(milliseconds: 29_000)
        #expect(stack.failure(token) == nil, "a worker may come")
        stack.pass(milliseconds: 1_000)
        let error = try #require(stack.failure(token))
        #expect(error.code == .deadlineExceeded)
        #expect(error.details["pool"] == kind.name)
        let expected = "no worker of the pool '\(kind.name)' is connected: start one with imagebus "
        #expect(error.message.hasPrefix(expected), "\(error)")
        #expect(error.message.contains("serve --only \(kind.name)"), "\(error)")
    }

    @Test func aWorkerThatComesInTimeDoesIt() {
        var stack = Stack()
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind) }
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5), by: client)
        stack.finishEverything()
        stack.pass(milliseconds: 29_000)
        stack.hire(.decode)
        stack.finishEverything()
        #expect(stack.image(token) != nil)
    }

    @Test func aWorkerThatIsBusyIsNotMissing() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.pass(milliseconds: 30_000)
        let error = try #require(stack.failure(token))
        #expect(error.message == "the request took longer than its timeout")
        #expect(error.details == [:])
    }

    // MARK: - Configured pools

    @Test func aPoolOfTheConfigurationIsNamedWithWhatToStart() {
        var bench = PoolBench([Self.gif])
        bench.hire("decode", credit: 8)
        let (gif, jpeg) = (bench.decode(.gif), bench.decode(.jpeg))
        #expect(bench.dispatcher.missingWorkers(for: jpeg) == nil)
        let missing = bench.dispatcher.missingWorkers(for: gif)
        #expect(
            missing?.description
                == "no worker of the pool 'scans' is connected: start the plug-in, "
                + "which connects at back/scans")
        bench.hire("scans")
        #expect(bench.dispatcher.missingWorkers(for: gif) == nil)
    }

    @Test func aPoolThatGetsNoJobNeedsNoWorker() {
        let none = Self.gif.with { $0.grant = WorkerCapabilities(formatsIn: []) }
        for (pool, names) in [(Self.gif, ["scans"]), (none, [])] {
            var bench = PoolBench([pool])
            for kind in WorkerKind.workers { bench.hire(kind.name) }
            var report = StatusReport()
            report.pools = bench.dispatcher.pools
            #expect(report.missingWorkers.map(\.pool.text) == names)
        }
    }
}

extension WorkerPool {
    fileprivate func with(_ change: (inout WorkerPool) -> Void) -> WorkerPool {
        var pool = self
        change(&pool)
        return pool
    }
}
