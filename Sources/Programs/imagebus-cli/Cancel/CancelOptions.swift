import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus cancel` was told.
struct CancelOptions: Hashable {
    /// What is cancelled.
    enum Target: Hashable {
        case token(Token)
        case group(GroupID)
    }

    var target: Target
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        let group = try read.parsed("group") { text throws(UsageError) in
            GroupID(try OptionValue.identifier(text))
        }
        switch (read.operands.count, group) {
        case (0, let group?): target = .group(group)
        case (1, nil): target = .token(Token(try OptionValue.identifier(read.operands[0])))
        default: throw UsageError("name one token, or a group with --group")
        }
    }
}
