import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus drain` was told.
struct DrainOptions: Hashable {
    var kind: WorkerKind
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        guard read.operands.count == 1 else {
            let names = WorkerKind.allCases.map(\.name).joined(separator: ", ")
            throw UsageError("name one kind: \(names)")
        }
        kind = try OptionValue.kind(read.operands[0])
    }
}
