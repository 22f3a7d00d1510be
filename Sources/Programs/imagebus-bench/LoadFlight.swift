import CommandLineInterface
import Imagebus
import Linux
import Model
import Synchronization

/// Keeps a number of loads in flight for a period of time: whenever one ends, the next one begins.
struct LoadFlight: Sendable {
    let concurrency: Int
    let seconds: Double
    /// Checked before each load.
    let hasStopped: @Sendable () -> Bool

    init(_ setting: BenchSetting, concurrency: Int? = nil, seconds: Double? = nil) {
        self.concurrency = concurrency ?? setting.options.concurrency
        self.seconds = seconds ?? Double(setting.options.seconds)
        hasStopped = { setting.hasStopped }
    }

    /// Performs one load; returns its size in bytes, or `nil` on failure.
    typealias Load = @Sendable () async -> Int?

    /// Performs loads with tasks on an executor; each task performs one load after the other.
    func run(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping Load
    ) async -> LoadMetrics {
        await atOnce(on: executor) { clock in
            var metrics = LoadMetrics()
            var begin = MonotonicClock.now()
            while begin < clock.end, !hasStopped() {
                let bytes = await load()
                begin = clock.count(bytes, since: begin, &metrics)
            }
            metrics.seconds = clock.elapsed
            return metrics
        }
    }

    /// Begins a load and calls back once with its size in bytes, or `nil` on failure.
    typealias CallbackLoad = @Sendable (@escaping @Sendable (Int?) -> Void) -> Void

    /// Performs loads with callbacks, `concurrency` at a time. The first load of each lane is
    /// started on an executor, and so are loads that follow one that ended within its call.
    func runCallbacks(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping CallbackLoad
    ) async -> LoadMetrics {
        await atOnce(on: executor) { clock in
            await withCheckedContinuation { continuation in
                CallbackLane(clock, hasStopped: hasStopped, load) {
                    continuation.resume(returning: $0)
                }.run()
            }
        }
    }

    /// Runs `concurrency` tasks on an executor with the same clock, and adds up their results.
    private func atOnce(
        on executor: (any TaskExecutor)?,
        _ lane: @escaping @Sendable (FlightClock) async -> LoadMetrics
    ) async -> LoadMetrics {
        let clock = FlightClock(seconds)
        return await withTaskGroup(of: LoadMetrics.self) { group in
            for _ in 0..<concurrency {
                group.addTask(executorPreference: executor) { await lane(clock) }
            }
            return await group.reduce(into: LoadMetrics()) { $0.add($1) }
        }
    }

    /// Performs one load after the other on a thread that may block.
    func runBlocking(_ load: @escaping @Sendable () -> Int?) async throws(ImageError) -> LoadMetrics
    {
        let done: Completion<LoadMetrics>
        do throws(Errno) {
            done = try Completion()
            _ = try Thread(name: "bench") { done.end(with: .success(block(load))) }
        } catch {
            throw ImageError(.internalError, "cannot start a thread (\(error))")
        }
        while true {
            if let value = done.value { return try value.get() }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Performs blocking loads on several threads concurrently.
    func runBlocking(
        onThreads count: Int, _ load: @escaping @Sendable () -> Int?
    ) async throws(ImageError) -> LoadMetrics {
        let results = await withTaskGroup(of: Result<LoadMetrics, ImageError>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do throws(ImageError) {
                        return .success(try await runBlocking(load))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var all = LoadMetrics()
        for result in results { all.add(try result.get()) }
        return all
    }

    private func block(_ load: () -> Int?) -> LoadMetrics {
        let clock = FlightClock(seconds)
        var metrics = LoadMetrics()
        var begin = MonotonicClock.now()
        while begin < clock.end, !hasStopped() {
            let bytes = load()
            begin = clock.count(bytes, since: begin, &metrics)
        }
        metrics.seconds = clock.elapsed
        return metrics
    }
}

/// Performs loads one after the other, each from the callback of the previous one.
final class CallbackLane: Sendable {
    private struct State {
        var metrics = LoadMetrics()
        var begin = MonotonicClock.now()
        /// Whether the call that begins a load has not returned yet.
        var isBeginning = false
        /// Whether the load ended before that call returned.
        var hasEnded = false
    }

    private let clock: FlightClock
    private let hasStopped: @Sendable () -> Bool
    private let load: LoadFlight.CallbackLoad
    private let end: @Sendable (LoadMetrics) -> Void
    private let state = Mutex(State())

    /// `end` is called once with the results.
    init(
        _ clock: FlightClock, hasStopped: @escaping @Sendable () -> Bool,
        _ load: @escaping LoadFlight.CallbackLoad,
        _ end: @escaping @Sendable (LoadMetrics) -> Void
    ) {
        (self.clock, self.hasStopped, self.load, self.end) = (clock, hasStopped, load, end)
    }

    /// Continues until the time is up. A load that ends within its call is followed by the next one
    /// here, and not in its callback, which would recurse.
    func run() {
        while mayBegin() {
            load { [self] bytes in
                if ended(bytes) { run() }
            }
            guard hasEndedMeanwhile() else { return }
        }
    }

    private func mayBegin() -> Bool {
        let metrics: LoadMetrics? = state.withLock { state in
            if state.begin < clock.end, !hasStopped() {
                state.isBeginning = true
                return nil
            }
            state.metrics.seconds = clock.elapsed
            return state.metrics
        }
        guard let metrics else { return true }
        end(metrics)
        return false
    }

    /// Counts a load; returns whether to begin the next one here.
    private func ended(_ bytes: Int?) -> Bool {
        state.withLock { state in
            state.begin = clock.count(bytes, since: state.begin, &state.metrics)
            state.hasEnded = state.isBeginning
            return !state.isBeginning
        }
    }

    private func hasEndedMeanwhile() -> Bool {
        state.withLock { state in
            state.isBeginning = false
            return exchange(&state.hasEnded, with: false)
        }
    }
}

/// The position of a load within the time of a measurement. Each reading of the clock both ends a
/// load and begins the next.
struct FlightClock: Sendable {
    private let start = MonotonicClock.now()
    let end: UInt64

    init(_ seconds: Double) { end = start + UInt64(seconds * 1e9) }

    var elapsed: Double { Double(MonotonicClock.now() - start) / 1e9 }

    func count(_ bytes: Int?, since begin: UInt64, _ metrics: inout LoadMetrics) -> UInt64 {
        let now = MonotonicClock.now()
        metrics.count(
            nanoseconds: now - begin, bytes: bytes,
            slice: Int((now - start) * UInt64(LoadMetrics.slices) / (end - start)))
        return now
    }
}

extension LoadTask {
    /// Returns the result of a load, for code that counts failures; the load is canceled after
    /// `delay`.
    func end(cancelledAfter delay: Duration? = nil) async -> Result<ImageResponse, ImageError> {
        let timer = delay.map { delay in
            Task.detached {
                try await Task.sleep(for: delay)
                self.cancel()
            }
        }
        defer { timer?.cancel() }
        do throws(ImageError) {
            return .success(try await response)
        } catch {
            return .failure(error)
        }
    }
}
