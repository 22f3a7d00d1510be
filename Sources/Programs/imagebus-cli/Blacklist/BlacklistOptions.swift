import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus blacklist` was told.
struct BlacklistOptions: Hashable {
    /// What is wanted of the list.
    enum Action: Hashable {
        case list
        case remove(String)
        case clear
    }

    var action: Action
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        switch (read.operands.first, read.operands.count) {
        case ("list", 1): action = .list
        case ("clear", 1): action = .clear
        case ("remove", 2): action = .remove(read.operands[1])
        case ("remove", _): throw UsageError("remove takes one URL")
        default: throw UsageError("say list, remove URL, or clear")
        }
    }
}
