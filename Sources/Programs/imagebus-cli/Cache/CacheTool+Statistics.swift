import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

// How the caches are.
extension CacheTool {
    static func statistics(_ options: CacheOptions) throws -> String {
        let report = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            try await figures(client)
        }
        return options.stack.printsJSON
            ? try JSONText.text(CacheFigures(report)) : CacheFigures.text(report)
    }

    /// A cache tells its figures once a second: who asks just after it began waits for the first
    /// ones, and gets none where it does not come.
    private static func figures(_ client: ImagebusClient) async throws(ImageError) -> StatusReport {
        for _ in 0..<20 {
            let report = try await client.status()
            guard report.caches.isEmpty else { return report }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return try await client.status()
    }
}
