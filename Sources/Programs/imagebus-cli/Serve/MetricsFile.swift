import CommandLineInterface
import Messages
import Observability
import Reporting

/// The file that `serve --metrics-file` keeps, for a collector that reads files: written whole,
/// again and again, and removed when the stack ends, so that nobody takes old figures for new.
final class MetricsFile {
    private let path: String
    private let milliseconds: Int
    private let log: Log
    private var writtenAt: Instant?
    private var hasFailed = false

    init(_ options: MetricsFileOptions, log: Log) {
        path = options.path
        milliseconds = options.seconds * 1_000
        self.log = log
    }

    /// The coordinator says how things are; written where it is time.
    func take(_ report: StatusReport, at now: Instant) {
        // Answers come about once a second: half of that before it is time is near enough.
        if let writtenAt, now.milliseconds(since: writtenAt) + 500 < milliseconds { return }
        writtenAt = now
        do throws(OutputError) {
            try OutputFile.replace(Array(MetricsText.text(report).utf8), at: path)
            hasFailed = false
        } catch {
            // Once, and not every few seconds.
            if !hasFailed {
                log.warning("figures cannot be written", ["reason": .string("\(error)")])
            }
            hasFailed = true
        }
    }

    /// The stack has ended.
    func remove() { OutputFile.remove(path) }
}
