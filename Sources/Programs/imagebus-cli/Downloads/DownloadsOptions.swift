import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus downloads` was told.
struct DownloadsOptions: Hashable {
    var command: DownloadCommand
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        switch (read.operands.first, read.operands.count) {
        case ("suspend", 1): command = .suspend
        case ("resume", 1): command = .resume
        default: throw UsageError("say suspend or resume")
        }
    }
}
