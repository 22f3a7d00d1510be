import ImageModel
import Linux
import StackAccess

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
