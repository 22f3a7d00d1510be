import Linux
import Synchronization

/// Keeps a number of loads in flight for a period of time: whenever one ends, the next one begins.
struct LoadFlight: Sendable {
    let concurrency: Int
    let seconds: Double
    /// Checked before each load.
    let hasStopped: @Sendable () -> Bool

    init(
        _ bench: Bench, concurrency: Int? = nil, seconds: Double? = nil,
        until isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.concurrency = concurrency ?? bench.options.concurrency
        self.seconds = seconds ?? Double(bench.options.seconds)
        hasStopped = { bench.hasStopped || isOver() }
    }

    /// Performs one load; returns its size in bytes, or `nil` on failure.
    typealias Load = @Sendable () async -> Int?

    /// Performs loads with tasks on an executor; each task performs one load after the other.
    func run(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping Load
    ) async -> LoadMetrics {
        await inLanes(on: executor) { lane in
            var lane = lane
            while lane.mayBegin {
                let bytes = await load()
                lane.count(bytes)
            }
            return lane.metrics
        }
    }

    /// Begins a load and calls back once with its size in bytes, or `nil` on failure.
    typealias CallbackLoad = @Sendable (@escaping @Sendable (Int?) -> Void) -> Void

    /// Performs loads with callbacks, `concurrency` at a time. The first load of each lane is
    /// started on an executor, and so are loads that follow one that ended within its call.
    func runCallbacks(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping CallbackLoad
    ) async -> LoadMetrics {
        await inLanes(on: executor) { lane in
            await withCheckedContinuation { continuation in
                CallbackLane(lane, load) { continuation.resume(returning: $0) }.run()
            }
        }
    }

    /// Performs loads on as many threads, which may block. A thread that can't be started counts as
    /// a failed load.
    func runBlocking(_ load: @escaping @Sendable () -> Int?) async -> LoadMetrics {
        await inLanes(on: nil) { lane in
            await withCheckedContinuation { continuation in
                do throws(Errno) {
                    _ = try Thread(name: "bench") {
                        var lane = lane
                        while lane.mayBegin { lane.count(load()) }
                        continuation.resume(returning: lane.metrics)
                    }
                } catch {
                    var lane = lane
                    lane.count(nil)
                    continuation.resume(returning: lane.metrics)
                }
            }
        }
    }

    /// Begins `concurrency` lanes at the same time, and adds up their results.
    private func inLanes(
        on executor: (any TaskExecutor)?, _ run: @escaping @Sendable (Lane) async -> LoadMetrics
    ) async -> LoadMetrics {
        let lane = Lane(seconds: seconds, hasStopped: hasStopped)
        return await withTaskGroup(of: LoadMetrics.self) { group in
            for _ in 0..<concurrency {
                group.addTask(executorPreference: executor) { await run(lane) }
            }
            return await group.reduce(into: LoadMetrics()) { $0.add($1) }
        }
    }

    /// Begins a number of loads at once, and waits for all of them.
    static func runAtOnce(
        _ count: Int, _ load: @escaping @Sendable (Int) async -> Int?
    ) async -> LoadMetrics {
        let start = MonotonicClock.now()
        var metrics = await withTaskGroup(of: (UInt64, Int?).self) { group in
            for number in 0..<count {
                group.addTask {
                    let bytes = await load(number)
                    return (MonotonicClock.now() - start, bytes)
                }
            }
            return await group.reduce(into: LoadMetrics()) { metrics, end in
                metrics.count(nanoseconds: end.0, bytes: end.1, slice: 0)
            }
        }
        metrics.seconds = Double(MonotonicClock.now() - start) / 1e9
        return metrics
    }
}

/// One load after the other, with their results. Each reading of the clock both ends a load and
/// begins the next.
struct Lane: Sendable {
    private var counted = LoadMetrics()
    private let start = MonotonicClock.now()
    private let end: UInt64
    private var begin: UInt64
    private let hasStopped: @Sendable () -> Bool

    init(seconds: Double, hasStopped: @escaping @Sendable () -> Bool) {
        end = start + UInt64(seconds * 1e9)
        (begin, self.hasStopped) = (start, hasStopped)
    }

    var mayBegin: Bool { begin < end && !hasStopped() }

    /// The results up to the end of the last load.
    var metrics: LoadMetrics {
        var metrics = counted
        metrics.seconds = Double(begin - start) / 1e9
        return metrics
    }

    /// The same period of time without results; its next load begins now.
    var fresh: Lane {
        var lane = self
        (lane.counted, lane.begin) = (LoadMetrics(), MonotonicClock.now())
        return lane
    }

    /// Counts a load that has ended, by its size in bytes; `nil` for a failure.
    mutating func count(_ bytes: Int?) {
        let now = MonotonicClock.now()
        counted.count(
            nanoseconds: now - begin, bytes: bytes,
            slice: Int((now - start) * UInt64(LoadMetrics.slices) / max(1, end - start)))
        begin = now
    }
}

/// Performs loads one after the other, each from the callback of the previous one.
final class CallbackLane: Sendable {
    private struct State {
        var lane: Lane
        /// Whether the call that begins a load has not returned yet.
        var isBeginning = false
        /// Whether the load ended before that call returned.
        var hasEnded = false

        /// Returns whether to begin a load.
        mutating func begin() -> Bool {
            isBeginning = lane.mayBegin
            return isBeginning
        }

        /// Counts a load; returns whether to begin the next one in its callback.
        mutating func count(_ bytes: Int?) -> Bool {
            lane.count(bytes)
            hasEnded = isBeginning
            return !isBeginning
        }

        /// Called when the call that begins a load has returned. Returns whether it has ended.
        mutating func hasBegun() -> Bool {
            isBeginning = false
            return exchange(&hasEnded, with: false)
        }
    }

    private let load: LoadFlight.CallbackLoad
    private let end: @Sendable (LoadMetrics) -> Void
    private let state: Mutex<State>

    /// `end` is called once with the results.
    init(
        _ lane: Lane, _ load: @escaping LoadFlight.CallbackLoad,
        _ end: @escaping @Sendable (LoadMetrics) -> Void
    ) {
        (self.load, self.end) = (load, end)
        state = Mutex(State(lane: lane))
    }

    /// Continues until the time is up. A load that ends within its call is followed by the next one
    /// here, and not in its callback, which would recurse.
    func run() {
        while state.withLock({ $0.begin() }) {
            load { [self] bytes in
                if state.withLock({ $0.count(bytes) }) { run() }
            }
            guard state.withLock({ $0.hasBegun() }) else { return }
        }
        end(state.withLock { $0.lane.metrics })
    }
}
