import Synchronization
import TestKit
import Testing

@testable import imagebus_bench

@Suite struct CallbackLaneTests {
    /// Completes a number of loads immediately, then leaves one to the caller, and so on.
    private final class Loader: Sendable {
        private let atOnce: Int
        private let state = Mutex((begun: 0, waiting: [@Sendable (Int?) -> Void]()))

        init(atOnce: Int) { self.atOnce = atOnce }

        var begun: Int { state.withLock { $0.begun } }

        func load(_ end: @escaping @Sendable (Int?) -> Void) {
            let endsAtOnce = state.withLock { state in
                state.begun += 1
                if state.begun % (atOnce + 1) != 0 { return true }
                state.waiting.append(end)
                return false
            }
            if endsAtOnce { end(begun.isMultiple(of: 2) ? 100 : nil) }
        }

        func endWaiting() {
            let waiting = state.withLock { exchange(&$0.waiting, with: []) }
            for end in waiting { end(100) }
        }
    }

    @Test(arguments: [0, 1, 100_000])
    func aLoadFollowsTheOneBefore(atOnce: Int) throws {
        let loader = Loader(atOnce: atOnce)
        let stops = Atomic(false)
        let ended = Recorder<LoadMetrics>()
        let lane = CallbackLane(
            Lane(seconds: 3_600) { stops.load(ordering: .relaxed) }, loader.load, ended.append)
        lane.run()
        #expect(loader.begun == atOnce + 1, "the next one waits for that which has not ended")
        loader.endWaiting()
        #expect(loader.begun == 2 * (atOnce + 1))
        #expect(ended.values.isEmpty)
        stops.store(true, ordering: .relaxed)
        loader.endWaiting()
        #expect(ended.values.count == 1)
        let metrics = try #require(ended.values.first)
        #expect(metrics.requests == 2 * (atOnce + 1), "each load is counted once")
        #expect(metrics.bytes == 100 * (metrics.requests - metrics.errors))
        #expect(metrics.seconds > 0)
    }

    @Test func nothingBeginsAfterTheTime() {
        let ended = Recorder<LoadMetrics>()
        let lane = CallbackLane(
            Lane(seconds: 0) { false }, { _ in Issue.record("begun") }, ended.append)
        lane.run()
        #expect(ended.values.count == 1)
    }
}
