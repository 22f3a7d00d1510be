import ImageModel
import Messages
import Observability

/// One line for each job that ended: for those who look for a fault, and at level info where the
/// caller of the request records its trace.
struct JobLog {
    /// What a line says of a job besides its outcome.
    private struct Entry {
        let job: Job
        let level: LogLevel
    }

    /// By own name; only those that get a line.
    private var entries: [JobID: Entry] = [:]
    private var budget = LineBudget(linesPerSecond: linesPerSecond)

    /// Lines of traced jobs; who debugs wants them all.
    private static let linesPerSecond: UInt64 = 100

    /// The executor was given a job, which is `own` to it.
    mutating func began(_ job: Job, as own: JobID, in log: Log) {
        let level = job.logContext.isSampled ? LogLevel.info : .debug
        guard level >= log.level, !job.logContext.isProbe else { return }
        entries[own] = Entry(job: job, level: level)
    }

    /// The executor has ended it.
    mutating func ended(_ outcome: JobOutcome, in log: Log, at now: Instant) {
        guard let entry = entries.removeValue(forKey: outcome.id) else { return }
        if log.level > .debug {
            guard case .write(let leftOut) = budget.take(at: now.nanoseconds) else { return }
            if leftOut > 0 {
                log.warning("lines of jobs were left out", ["count": LogValue(leftOut)])
            }
        }
        log.write(entry.level, "job", fields: Self.fields(entry.job, outcome))
    }

    /// Numbers and names only: what a job is about may be secret.
    static func fields(_ job: Job, _ outcome: JobOutcome) -> [(String, LogValue)] {
        var fields: [(String, LogValue)] = [
            ("job", LogValue(job.id.value)), ("attempt", LogValue(job.attempt)),
            ("stage", .string(job.work.name)), ("outcome", .string(outcome.result.word)),
        ]
        if case .failed(let error) = outcome.result {
            fields.append(("error", .string(error.code.rule.name)))
        }
        let milliseconds = Double(outcome.workMicroseconds) / 1_000
        fields.append(("workMilliseconds", LogValue(milliseconds: milliseconds)))
        let references = outcome.result.references
        if !references.isEmpty {
            fields.append(("bytes", LogValue(references.reduce(0) { $0 + $1.length })))
        }
        fields += job.logContext.fields.map { ($0.name, LogValue.string($0.text)) }
        return fields
    }
}

extension JobResult {
    fileprivate var word: String {
        switch self {
        case .fetched, .decoded, .transformed, .entry, .entries, .validity: "done"
        case .stored: "stored"
        case .hit: "hit"
        case .miss: "miss"
        case .failed: "failed"
        }
    }
}
