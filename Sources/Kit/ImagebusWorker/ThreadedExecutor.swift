import Linux
import Model
import ProcessRuntime
import Synchronization

/// Executes several jobs concurrently, each on its own thread. A canceled job ends immediately, and
/// its thread is abandoned.
final class ThreadedExecutor: JobExecutor {
    typealias Perform = @Sendable (Job, LoadReport) throws(ImageError) -> JobResult

    private struct Held {
        let job: Job
        let report: LoadReport
        let began: Instant
        var deadline: Instant
    }

    private struct Ended: Sendable {
        let id: JobID
        let result: JobResult
    }

    private let arena: Arena
    private let reporter: WorkerReporter
    private let name: String
    private let prepare: (Job) -> Perform
    private let ended = EndedJobs()
    private var held: [JobID: Held] = [:]
    /// The number of jobs that have ended while their functions are still running.
    private(set) var abandonedCount = 0

    let credit: UInt32
    let needsHardCancel = false

    /// The largest number of abandoned functions still running.
    static let abandonedMax = 16

    /// The results of threads, until the bus thread collects them.
    private final class EndedJobs: Sendable {
        let jobs = Mutex<[Ended]>([])
    }

    /// `prepare` is called on the bus thread, in the order in which jobs arrive, and returns what a
    /// job's thread performs.
    init(
        name: String, credit: UInt32, arena: Arena, reporter: WorkerReporter,
        prepare: @escaping (Job) -> Perform
    ) {
        (self.name, self.credit) = (name, credit)
        (self.arena, self.reporter) = (arena, reporter)
        self.prepare = prepare
    }

    var hasTooManyAbandonedJobs: Bool { abandonedCount > Self.abandonedMax }

    func start(_ job: Job) {
        let (reporter, ended, perform) = (reporter, ended, prepare(job))
        let report = LoadReport(
            millisecondsLeft: job.millisecondsLeft, bytesMax: Self.bytesMax(job.work),
            wantsProgress: job.wantsProgress || job.wantsArrived
        ) { received, expected in
            reporter.send(
                .progress(
                    JobProgress(
                        id: job.id, attempt: job.attempt, received: received,
                        expected: expected)))
        }
        let now = Instant.now()
        held[job.id] = Held(
            job: job, report: report, began: now,
            deadline: now.adding(milliseconds: Int(job.millisecondsLeft)))
        do throws(Errno) {
            _ = try Thread(name: name) {
                let result: JobResult
                do throws(ImageError) {
                    result = try perform(job, report)
                } catch {
                    result = .failed(error)
                }
                ended.jobs.withLock { $0.append(Ended(id: job.id, result: result)) }
                reporter.attend()
            }
        } catch {
            end(job.id, .failed(ImageError(.internalError, "cannot start a thread: \(error)")))
        }
    }

    func attend() {
        let all = ended.jobs.withLock { exchange(&$0, with: []) }
        for one in all {
            if held[one.id] != nil {
                end(one.id, one.result)
            } else {
                abandonedCount -= 1
                for reference in one.result.references { discard(reference) }
            }
        }
    }

    func cancel(_ id: JobID) {
        guard let job = held[id] else { return }
        job.report.cancel()
        abandonedCount += 1
        end(id, .failed(job.deadline <= .now() ? .tookTooLong : .nobodyWaits))
    }

    func adjust(_ adjustment: JobAdjustment) {
        held[adjustment.id]?.deadline =
            .now().adding(milliseconds: Int(adjustment.millisecondsLeft))
        held[adjustment.id]?.report.adjust(
            millisecondsLeft: adjustment.millisecondsLeft,
            wantsProgress: adjustment.wantsProgress || adjustment.wantsArrived)
    }

    func release(_ blocks: [BlockID]) { for block in blocks { arena.free(block) } }

    func abandon() { for id in Array(held.keys) { cancel(id) } }

    func discard(_ reference: BlockReference) { arena.free(reference.block) }

    func flush() { reporter.flushed() }

    private func end(_ id: JobID, _ result: JobResult) {
        guard let job = held.removeValue(forKey: id) else { return }
        let spent = (Instant.now().nanoseconds - job.began.nanoseconds) / 1_000
        reporter.finish(
            JobOutcome(
                id: id, attempt: job.job.attempt, result: result, workMicroseconds: spent))
    }

    private static func bytesMax(_ work: JobWork) -> Int {
        guard case .fetch(let fetch) = work else { return .max }
        return Int(clamping: fetch.bodyBytesMax)
    }
}
