import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus downloads`: suspends the transfers that wait, and lets them go on.
enum DownloadsTool {
    static func run(_ options: DownloadsOptions) -> Int32 {
        OperatorQuery.run("downloads") { try text(options) }
    }

    private static func text(_ options: DownloadsOptions) throws -> String {
        let report = try OperatorQuery.ask(options.stack) {
            client throws(ImageError) in try await client.downloads(options.command)
        }
        let fetches = report.stages.first { $0.stage == "fetch" }
        let answer = DownloadsAnswer(
            isSuspended: report.count("downloadsSuspended") > 0, waiting: fetches?.queued ?? 0,
            running: fetches?.running ?? 0)
        return options.stack.printsJSON ? try JSONText.text(answer) : answer.sentence
    }
}

/// What `downloads --json` prints.
struct DownloadsAnswer: Encodable {
    let isSuspended: Bool
    /// Downloads that wait, and those that run.
    let waiting: UInt64
    let running: UInt64

    var sentence: String {
        "downloads \(isSuspended ? "are suspended" : "go on"): \(waiting) wait, \(running) run\n"
    }
}
