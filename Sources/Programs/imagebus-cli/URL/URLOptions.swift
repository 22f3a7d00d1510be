import CommandLineInterface
import Messages
import StackAccess

/// What `imagebus url` is told, as the gateway's program reads it.
struct URLOptions: Hashable {
    /// What is done.
    enum Action: String, CaseIterable {
        case build, sign, explain

        /// What stands behind it.
        fileprivate var operands: [String] {
            switch self {
            case .build: ["OPTIONS", "SOURCE"]
            case .sign: ["PATH"]
            case .explain: ["URL"]
            }
        }
    }

    /// For `imagebus-gateway`.
    let arguments: [String]

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let words = read.operands
        guard let action = words.first.flatMap({ Action(rawValue: $0) }) else {
            let names = Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("say what to do: one of \(names)")
        }
        guard words.count == action.operands.count + 1 else {
            throw UsageError(
                "\(action.rawValue) takes \(action.operands.joined(separator: " and "))")
        }
        var arguments = ["url", "--\(action.rawValue)"]
        if action == .explain {
            arguments += ["--runtime-dir", try read.runtimeDirectory(environment)]
            if let types = read.last("accept") { arguments += ["--accept", types] }
            if read.isSet("json") { arguments.append("--json") }
        }
        arguments += GatewayListenerSettings.arguments(try ServedGateway.values(read))
        for operand in words.dropFirst() { arguments += ["--operand", operand] }
        self.arguments = arguments
    }
}
