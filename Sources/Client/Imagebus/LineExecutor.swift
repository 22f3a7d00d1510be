import Synchronization

/// Runs tasks between the messages of a client, on the thread that runs its line: a task that loads
/// again as soon as it has an image needs no other thread to be woken.
final class LineExecutor: TaskExecutor {
    let desk: OrderDesk
    private let waiting = Mutex<[UnownedJob]>([])

    init(_ desk: OrderDesk) { self.desk = desk }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = waiting.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { desk.rouse() }
    }

    /// Whether something waits at this moment.
    var isBusy: Bool { waiting.withLock { !$0.isEmpty } }

    /// Runs what waits; what comes up meanwhile is left to the next time. On the thread that runs
    /// the line.
    func runWaiting() {
        let jobs = waiting.withLock { exchange(&$0, with: []) }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
