import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus drain` was told.
struct DrainOptions: Hashable {
    var target: DrainTarget
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        guard read.operands.count == 1 else {
            let names = WorkerKind.allCases.map(\.name).joined(separator: ", ")
            throw UsageError("name one kind: \(names); or one pool of it, such as decode/NAME")
        }
        target = try DrainTarget(read.operands[0])
    }
}
