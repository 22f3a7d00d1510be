import ImageModel
import Messages

/// `imagebus status`: what the coordinator knows of its stack.
enum StatusCommand {
    static func run(_ options: OperatorOptions) -> Int32 {
        OperatorQuery.run("status") {
            let report = try OperatorQuery.ask(options) {
                client throws(ImageError) in try await client.status()
            }
            return options.printsJSON
                ? try JSONText.text(StatusAnswer(report)) : StatusTable.text(report)
        }
    }
}
