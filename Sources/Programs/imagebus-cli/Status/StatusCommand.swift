import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus status`: what the coordinator knows of its stack.
enum StatusCommand {
    static func run(_ options: StatusOptions) -> Int32 {
        if options.watches { return StatusWatch(options).run() }
        return OperatorQuery.run("status") {
            let text = try text(try report(options.stack), options.format)
            guard let output = options.output else { return text }
            try OutputFile.write(Array(text.utf8), to: output)
            return ""
        }
    }

    static func report(_ stack: OperatorOptions) throws(ImageError) -> StatusReport {
        try OperatorQuery.ask(stack) { client throws(ImageError) in try await client.status() }
    }

    static func text(
        _ report: StatusReport, _ format: StatusOptions.Format
    ) throws -> String {
        switch format {
        case .table: StatusTable.text(report)
        case .json: try JSONText.text(StatusAnswer(report))
        case .prometheus: MetricsText.text(report)
        }
    }
}
