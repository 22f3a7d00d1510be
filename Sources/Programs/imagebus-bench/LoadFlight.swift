import ImageModel
import Imagebus
import Linux
import StackAccess
import Synchronization

/// Keeps a number of loads in flight for a while: as soon as one has ended, the next one begins.
struct LoadFlight: Sendable {
    let concurrency: Int
    let seconds: Double
    /// Looked at before each load.
    let hasStopped: @Sendable () -> Bool

    init(_ setting: BenchSetting, concurrency: Int? = nil, seconds: Double? = nil) {
        self.concurrency = concurrency ?? setting.options.concurrency
        self.seconds = seconds ?? Double(setting.options.seconds)
        hasStopped = { setting.hasStopped }
    }

    /// One load; returns its bytes, nil where it went wrong.
    typealias Load = @Sendable () async -> Int?

    /// Loads through tasks, which run on an executor; each makes one load after the other.
    func run(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping Load
    ) async -> LoadFigures {
        await atOnce(on: executor) { clock in
            var figures = LoadFigures()
            var begin = MonotonicClock.now()
            while begin < clock.end, !hasStopped() {
                let bytes = await load()
                begin = clock.count(bytes, since: begin, &figures)
            }
            figures.seconds = clock.elapsed
            return figures
        }
    }

    /// Begins a load, and calls once with its bytes, nil where it went wrong.
    typealias CallbackLoad = @Sendable (@escaping @Sendable (Int?) -> Void) -> Void

    /// Loads from callbacks, so many at a time; the first of each is begun on an executor, and so
    /// are those that end within their call.
    func runCallbacks(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping CallbackLoad
    ) async -> LoadFigures {
        await atOnce(on: executor) { clock in
            await withCheckedContinuation { continuation in
                CallbackLane(clock, hasStopped: hasStopped, load) {
                    continuation.resume(returning: $0)
                }.run()
            }
        }
    }

    /// Adds up what so many tasks on an executor count by one clock.
    private func atOnce(
        on executor: (any TaskExecutor)?,
        _ lane: @escaping @Sendable (FlightClock) async -> LoadFigures
    ) async -> LoadFigures {
        let clock = FlightClock(seconds)
        return await withTaskGroup(of: LoadFigures.self) { group in
            for _ in 0..<concurrency {
                group.addTask(executorPreference: executor) { await lane(clock) }
            }
            return await group.reduce(into: LoadFigures()) { $0.add($1) }
        }
    }

    /// Loads one after the other on a thread that may block.
    func runBlocking(_ load: @escaping @Sendable () -> Int?) async throws(ImageError) -> LoadFigures
    {
        let done: Completion<LoadFigures>
        do throws(Errno) {
            done = try Completion()
            _ = try Thread(name: "bench") { done.end(with: .success(block(load))) }
        } catch {
            throw ImageError(.internalError, "no thread can be started (\(error))")
        }
        while true {
            if let value = done.value { return try value.get() }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The same on several threads at once.
    func runBlocking(
        onThreads count: Int, _ load: @escaping @Sendable () -> Int?
    ) async throws(ImageError) -> LoadFigures {
        let results = await withTaskGroup(of: Result<LoadFigures, ImageError>.self) { group in
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
        var all = LoadFigures()
        for result in results { all.add(try result.get()) }
        return all
    }

    private func block(_ load: () -> Int?) -> LoadFigures {
        let clock = FlightClock(seconds)
        var figures = LoadFigures()
        var begin = MonotonicClock.now()
        while begin < clock.end, !hasStopped() {
            let bytes = load()
            begin = clock.count(bytes, since: begin, &figures)
        }
        figures.seconds = clock.elapsed
        return figures
    }
}

/// Loads one after the other, each from the callback that ends the one before.
final class CallbackLane: Sendable {
    private struct State {
        var figures = LoadFigures()
        var begin = MonotonicClock.now()
        /// The call that begins a load has not returned.
        var isBeginning = false
        /// The load ended before that.
        var hasEnded = false
    }

    private let clock: FlightClock
    private let hasStopped: @Sendable () -> Bool
    private let load: LoadFlight.CallbackLoad
    private let end: @Sendable (LoadFigures) -> Void
    private let state = Mutex(State())

    /// `end` is called once, with what was counted.
    init(
        _ clock: FlightClock, hasStopped: @escaping @Sendable () -> Bool,
        _ load: @escaping LoadFlight.CallbackLoad,
        _ end: @escaping @Sendable (LoadFigures) -> Void
    ) {
        (self.clock, self.hasStopped, self.load, self.end) = (clock, hasStopped, load, end)
    }

    /// Goes on until the time is up. A load that ends at once is followed here, and not by its
    /// callback: a thousand of them would be a thousand calls deep.
    func run() {
        while mayBegin() {
            load { [self] bytes in
                if ended(bytes) { run() }
            }
            guard hasEndedMeanwhile() else { return }
        }
    }

    private func mayBegin() -> Bool {
        let figures: LoadFigures? = state.withLock { state in
            if state.begin < clock.end, !hasStopped() {
                state.isBeginning = true
                return nil
            }
            state.figures.seconds = clock.elapsed
            return state.figures
        }
        guard let figures else { return true }
        end(figures)
        return false
    }

    /// Counts a load; whether the next one is to be begun here.
    private func ended(_ bytes: Int?) -> Bool {
        state.withLock { state in
            state.begin = clock.count(bytes, since: state.begin, &state.figures)
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

/// Where in the time of a measurement a load is. One reading of the clock ends a load and begins
/// the next one.
struct FlightClock: Sendable {
    private let start = MonotonicClock.now()
    let end: UInt64

    init(_ seconds: Double) { end = start + UInt64(seconds * 1e9) }

    var elapsed: Double { Double(MonotonicClock.now() - start) / 1e9 }

    func count(_ bytes: Int?, since begin: UInt64, _ figures: inout LoadFigures) -> UInt64 {
        let now = MonotonicClock.now()
        figures.count(
            nanoseconds: now - begin, bytes: bytes,
            slice: Int((now - start) * UInt64(LoadFigures.slices) / (end - start)))
        return now
    }
}

extension LoadTask {
    /// How it ends, for what counts failures; it is cancelled unless it has ended after so long.
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
