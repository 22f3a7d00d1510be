import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus cancel`: ends requests of any client.
enum CancelTool {
    static func run(_ options: CancelOptions) -> Int32 {
        OperatorQuery.run("cancel") { try text(options) }
    }

    /// The coordinator answers no cancel; the counter before and after says how many ended.
    private static func text(_ options: CancelOptions) throws -> String {
        let target = options.target
        let ended = try OperatorQuery.ask(options.stack) {
            client throws(ImageError) -> UInt64 in
            let before = try await client.status().count(counter)
            switch target {
            case .token(let token): client.cancelAny(token)
            case .group(let group): client.cancelAny(group: group)
            }
            return try await client.status().count(counter) - before
        }
        if options.stack.printsJSON { return try JSONText.text(["cancelled": ended]) }
        return ended == 0 ? "nothing was running under that name\n" : "cancelled \(ended)\n"
    }

    private static let counter = "cancelled"
}
