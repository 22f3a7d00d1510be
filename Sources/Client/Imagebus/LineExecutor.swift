import Synchronization

/// Runs tasks between the messages of a client, on the thread that runs its line: a task that loads
/// again as soon as it has an image needs no other thread to be woken.
final class LineExecutor: TaskExecutor {
    let commands: CommandQueue
    /// `nil` once the line has ended.
    private let waiting = Mutex<[UnownedJob]?>([])

    init(_ commands: CommandQueue) { self.commands = commands }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let place = waiting.withLock { jobs in
            jobs?.append(job)
            return jobs?.count
        }
        switch place {
        case nil: globalConcurrentExecutor.enqueue(job)
        case 1: commands.rouse()
        default: break
        }
    }

    /// Whether something waits at this moment.
    var isBusy: Bool { waiting.withLock { $0?.isEmpty == false } }

    /// Runs what waits; what comes up meanwhile is left to the next time. On the thread that runs
    /// the line.
    func runWaiting() {
        let jobs = waiting.withLock { $0 == nil ? [] : exchange(&$0, with: []) ?? [] }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Nobody runs the line any more: a task that is told so has to go on elsewhere.
    func retire() {
        for job in waiting.withLock({ exchange(&$0, with: nil) }) ?? [] {
            globalConcurrentExecutor.enqueue(job)
        }
    }
}
