import CommandLineInterface
import StackAccess

/// What `status` was told.
struct StatusOptions: Hashable {
    /// How the answer is written.
    enum Format: Hashable {
        case table
        case json
        case prometheus
    }

    var format: Format
    /// Again and again, until Ctrl-C.
    var watches: Bool
    /// A file instead of standard output.
    var output: String?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        watches = read.isSet("watch")
        output = try read.parsed("output", OptionValue.path)
        let isMetrics = read.isSet("prometheus")
        guard !isMetrics || !stack.printsJSON else {
            throw UsageError("--json and --prometheus are two forms of the same: give one of them")
        }
        format = isMetrics ? .prometheus : stack.printsJSON ? .json : .table
        guard !watches || (output == nil && !isMetrics) else {
            throw UsageError(
                "--watch is for a terminal or a pipe; serve --metrics-file keeps a file up to date")
        }
    }
}
