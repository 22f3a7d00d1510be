import Synchronization

/// Runs tasks between the replies to a client, on the thread that runs its line: a task that loads
/// again as soon as it has an image needs no other thread to be woken.
final class LineExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Memory for the next jobs.
        var spare: [UnownedJob] = []
        /// The line has ended.
        var isRetired = false
    }

    let commands: CommandQueue
    private let waiting = Mutex(State())

    init(_ commands: CommandQueue) { self.commands = commands }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let place: Int? = waiting.withLock { state in
            if state.isRetired { return nil }
            state.jobs.append(job)
            return state.jobs.count
        }
        switch place {
        case nil: globalConcurrentExecutor.enqueue(job)
        case 1: commands.rouse()
        default: break
        }
    }

    /// Whether something waits at this moment.
    var isBusy: Bool { waiting.withLock { !$0.jobs.isEmpty } }

    /// Runs what waits; what comes up meanwhile is left to the next time. On the thread that runs
    /// the line.
    func runWaiting() {
        var jobs: [UnownedJob] = waiting.withLock { state in
            state.jobs.isEmpty
                ? [] : exchange(&state.jobs, with: exchange(&state.spare, with: []))
        }
        guard !jobs.isEmpty else { return }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        jobs.removeAll(keepingCapacity: true)
        waiting.withLock { $0.spare = jobs }
    }

    /// Nobody runs the line any more: a task that is told so has to go on elsewhere.
    func retire() {
        let jobs = waiting.withLock { state in
            state.isRetired = true
            return exchange(&state.jobs, with: [])
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}
