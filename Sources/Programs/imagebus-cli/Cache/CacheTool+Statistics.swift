import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

// How the caches are.
extension CacheTool {
    static func statistics(_ options: CacheOptions) throws -> String {
        let report = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            try await client.status()
        }
        return options.stack.printsJSON
            ? try JSONText.text(CacheFigures(report)) : CacheFigures.text(report)
    }
}
