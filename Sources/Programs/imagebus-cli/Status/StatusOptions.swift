import ImageModel
import SharedArena

/// What `status` and `health` were told.
struct StatusOptions: Hashable {
    var endpoint: String?
    var runtimeDirectory: String
    var printsJSON: Bool

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        if let operand = read.operands.first { throw UsageError("'\(operand)' is no option") }
        endpoint = read.last("endpoint")
        runtimeDirectory = try ServeOptions.runtimeDirectory(read, environment)
        printsJSON = read.isSet("json")
    }

    /// The stack that is meant, whether or not it runs.
    func paths() throws(ImageError) -> RuntimePaths {
        do throws(RuntimePathsError) {
            if let endpoint { return try RuntimePaths(endpoint: endpoint) }
            return try RuntimePaths(resolving: runtimeDirectory)
        } catch {
            throw ImageError(.invalidRequest, error.description)
        }
    }
}
