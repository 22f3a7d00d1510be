import ImageModel
import SharedArena

/// Which stack an operator's command asks, and how it answers.
struct OperatorOptions: Hashable {
    var endpoint: String?
    var runtimeDirectory: String
    var printsJSON: Bool

    /// What it reads, in the help of every such command.
    static let definitions: [OptionDefinition] = [
        OptionDefinition("json", "one JSON object"), .endpoint, .runtimeDirectory,
        OptionDefinition("config", value: "FILE", visibility: .later),
    ]

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        runtimeDirectory = try ServeOptions.runtimeDirectory(read, environment)
        printsJSON = read.isSet("json")
    }

    /// The same for a command that takes nothing but options.
    init(
        withoutOperands read: ReadOptions, environment: [String: String]
    ) throws(UsageError) {
        if let operand = read.operands.first { throw UsageError("'\(operand)' is no option") }
        try self.init(read, environment: environment)
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
