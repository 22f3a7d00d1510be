import CommandLineInterface
import ImageModel
import Linux
import Messages
import StackAccess

/// A program installed next to this one that implements a command, so that this program needs none
/// of its libraries.
struct NeighborProgram: Sendable {
    /// The name of the program.
    let name: String
    /// The command it implements.
    let command: String

    /// Executes the program with arguments in place of this process; returns an exit status only on
    /// failure.
    func run(_ arguments: [String]) -> Int32 {
        do throws(Errno) {
            let path = try ProgramNeighbor.path(name)
            let error = CurrentProcess.become(path, arguments)
            return refuse("\(path) cannot be started (\(error))")
        } catch {
            return refuse("its program cannot be looked for (\(error))")
        }
    }

    private func refuse(_ reason: String) -> Int32 {
        let error = ImageError(
            .unavailable,
            "\(reason): this command is a program of its own; install \(name) beside imagebus")
        Terminal.complain(command, error)
        return error.exitStatus
    }
}

extension NeighborProgram {
    /// Reads its options and prints its help itself.
    static let bench = NeighborProgram(name: "imagebus-bench", command: Command.bench.name)

    /// Contains the URL grammars; its options are read here.
    static let gateway = NeighborProgram(name: "imagebus-gateway", command: Command.url.name)
}

extension Command {
    static let url = Command(
        name: "url",
        summary: "make, sign and explain gateway URLs",
        usage: "build OPTIONS SOURCE | sign PATH | explain URL  [options]",
        operands: [.words(URLOptions.Action.allCases.map(\.rawValue)), .free, .free],
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "accept", value: "TYPES",
                        "explain: what the client accepts, as its field Accept says it"),
                    OptionDefinition("json", "explain: one JSON object"),
                    .runtimeDirectory,
                ]
            ),
            ("how the gateway is set", ServedGateway.settingDefinitions),
        ],
        notes: """
            build prints the target for a source with options as the grammar writes them, such as
            rs:fit:300:300/f:webp for imgproxy, 300x200/smart for thumbor and
            full/300,/0/default.jpg for IIIF; OPTIONS may be ''. sign prints the target for a path
            that has no signature yet. Both sign with the first key of --gateway-keys; without keys
            they write the word that stands for a signature, which needs --gateway-unsigned.
            --gateway-public-url stands before the target.

            explain prints what the gateway makes of a URL or of its path: the source, the steps,
            the format, what the answer depends on and the cache key, or the status and the reason
            of a refusal. Where a stack runs, it says whether the result is cached.

            exit status: 0 the target is made, or would be loaded; 1 explain: it is refused
            """,
        examples: [
            (
                "imagebus url build rs:fit:300:300 https://example.com/a.jpg "
                    + "--gateway-keys keys",
                "a signed target of imgproxy's"
            ),
            (
                "imagebus url explain /unsafe/90x60/example.com/a.jpg "
                    + "--gateway-grammar thumbor --gateway-unsigned",
                "what thumbor's grammar makes of it"
            ),
        ])
}

/// The options of `imagebus url`, converted to those of the gateway program.
struct URLOptions: Hashable {
    /// The action.
    enum Action: String, CaseIterable {
        case build, sign, explain

        /// The operands of the action.
        fileprivate var operands: [String] {
            switch self {
            case .build: ["OPTIONS", "SOURCE"]
            case .sign: ["PATH"]
            case .explain: ["URL"]
            }
        }
    }

    /// The arguments for `imagebus-gateway`.
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
