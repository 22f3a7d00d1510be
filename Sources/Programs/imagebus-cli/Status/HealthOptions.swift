import CommandLineInterface
import Messages
import StackAccess

/// Whose health is asked for.
struct HealthOptions: Hashable {
    /// nil: whether the whole stack can load images.
    var only: ProcessKind?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        only = try read.parsed("only", OptionValue.kind)
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
    }
}
