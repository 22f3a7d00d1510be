package import CommandLineInterface
package import ImageModel
import SharedArena

/// Which stack an operator's command asks, and how it answers.
package struct OperatorOptions: Hashable {
    package var endpoint: String?
    package var runtimeDirectory: RuntimePlace
    package var printsJSON: Bool

    /// What it reads, in the help of every such command.
    package static let definitions: [OptionDefinition] = [
        OptionDefinition("json", "one JSON object"), .endpoint, .runtimeDirectory,
        OptionDefinition("config", value: "FILE", visibility: .later),
    ]

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        runtimeDirectory = try RuntimePlace(read, environment: environment)
        printsJSON = read.isSet("json")
    }

    /// The same for a command that takes nothing but options.
    package init(
        withoutOperands read: ReadOptions, environment: [String: String]
    ) throws(UsageError) {
        if let operand = read.operands.first { throw UsageError("'\(operand)' is no option") }
        try self.init(read, environment: environment)
    }

    /// The stack that is meant. Throws `unavailable` where none runs.
    package func route() throws(ImageError) -> StackRoute {
        if let endpoint { return try StackRoute(endpoint: endpoint) }
        guard let route = try StackRoute(in: runtimeDirectory, asOperator: true) else {
            throw ImageError(
                .unavailable,
                "no stack runs in \(runtimeDirectory.path): start one with imagebus serve, or name "
                    + "another with --runtime-dir")
        }
        return route
    }

    /// The runtime directory that is meant, whether or not a coordinator is served there.
    package func root() throws(ImageError) -> String {
        if let endpoint { return try StackRoute(endpoint: endpoint).paths.root }
        _ = try runtimeDirectory.servers(at: "admin")
        return runtimeDirectory.path
    }
}
