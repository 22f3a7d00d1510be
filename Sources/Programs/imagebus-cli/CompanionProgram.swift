import CommandLineInterface
import Linux
import Model

/// A program installed next to this one that implements a command, so that this program needs none
/// of its libraries.
enum CompanionProgram {
    /// Executes the program with arguments in place of this process; returns only by throwing.
    static func run(_ name: String, _ arguments: [String]) throws(ImageError) -> Int32 {
        let reason: String
        do throws(Errno) {
            let path = try ProgramNeighbor.path(name)
            reason = "\(path) cannot be started (\(CurrentProcess.become(path, arguments)))"
        } catch {
            reason = "the program's directory cannot be determined (\(error))"
        }
        throw ImageError(
            .unavailable,
            advising: "\(reason): this command requires \(name); install it next to imagebus")
    }
}

extension Command {
    static let url = Command(
        name: "url",
        summary: "build, sign and explain gateway URLs",
        usage: "build OPTIONS SOURCE | sign PATH | explain URL  [options]",
        operands: [.words(URLOptions.Action.allCases.map(\.rawValue)), .free, .free],
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "accept", value: "TYPES",
                        "with explain: value of the client's Accept header"),
                    OptionDefinition("json", "with explain: print one JSON object"),
                    .runtimeDirectory,
                ]
            ),
            ("gateway settings", ServedGateway.settingDefinitions),
        ],
        notes: """
            build prints the target for a SOURCE and OPTIONS in the syntax of the grammar, such as
            rs:fit:300:300/f:webp for imgproxy, 300x200/smart for thumbor and imagor,
            full/300,/0/default.jpg for IIIF and 'w=300&fit=cover' for weserv; OPTIONS can be ''.
            sign prints the target for a path without a signature. Both sign with the first key of
            --gateway-keys; without keys, they use the placeholder for unsigned paths, which
            requires --gateway-unsigned. The target is prefixed by --gateway-public-url.

            explain prints how the gateway interprets a URL or path: the source, steps, format, the
            headers that the response depends on and the cache key, or the status and reason of an
            error. If a stack is running, it also prints whether the result is cached.

            exit status: 0 success, 1 with explain: the URL is refused
            """,
        examples: [
            (
                "imagebus url build rs:fit:300:300 https://example.com/a.jpg "
                    + "--gateway-keys keys",
                "a signed imgproxy target"
            ),
            (
                "imagebus url explain /unsafe/90x60/example.com/a.jpg "
                    + "--gateway-grammar thumbor --gateway-unsigned",
                "how the thumbor grammar reads a path"
            ),
        ])
}

/// The options of `imagebus url`, converted to those of the gateway program.
struct URLOptions: Hashable {
    enum Action: String, CaseIterable {
        case build, sign, explain

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
            throw UsageError("expected one of \(names)")
        }
        guard words.count == action.operands.count + 1 else {
            throw UsageError(
                "\(action.rawValue) requires \(action.operands.joined(separator: " and "))")
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
