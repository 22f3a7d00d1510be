import CommandLineInterface
import Glibc
import ImageModel
import Imagebus
import Messages
import Observability
import Reporting
import StackAccess
import Supervision

extension Command {
    static let status = Command(
        name: "status",
        summary: "show processes, stages, caches and counters of the running stack",
        usage: "[options]",
        options: [
            (
                "",
                OperatorOptions.definitions + [
                    OptionDefinition("watch", "again every second, until Ctrl-C"),
                    OptionDefinition(
                        "prometheus", "the text format of Prometheus, version 0.0.4"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "write it there, at once and whole, such as for the textfile\n"
                            + "collector of a node exporter"),
                ]
            )
        ],
        notes: """
            Asks the coordinator through admin/, so it is for the user who runs the stack. Ends 69
            where none answers. Waits and works are of all jobs since the coordinator started;
            what is a hit of its own index takes no time and is in no stage.
            """,
        examples: [
            ("imagebus status", "a table"),
            ("imagebus status --json", "the same for programs"),
            ("imagebus status --watch", "a part of it, in place"),
            (
                "imagebus status --prometheus -o /var/lib/node_exporter/imagebus.prom",
                "for a collector, once; serve --metrics-file does it again and again"
            ),
        ])

    static let health = Command(
        name: "health",
        summary: "end with 0 where the running stack can load images, else with 1",
        usage: "[options]",
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "only", value: "KIND",
                        of: .words(ProcessKind.all.map(\.name)),
                        "whether the processes of this kind do their part:\n"
                            + "coordinator, download, cache, decode or transform"),
                    OptionDefinition(
                        "canary", "whether a small image goes through the stack as well"),
                    within, .endpoint, .runtimeDirectory,
                    OptionDefinition("config", value: "FILE", visibility: .later),
                ]
            )
        ],
        notes: """
            Ends 0 when the coordinator answers within 2 s and has at least one worker of each kind
            that takes jobs, and one of each pool of the configuration; else 1, with the reason on
            standard error: what is missing keeps requests waiting. With --only it looks no
            further than this runtime directory: the coordinator answers, or the supervisors of that
            kind say that each of their processes runs and is connected.

            --canary asks coordinator, cache, decoder and transformer one after the other, past the
            caches and without an origin. It names the first that does not answer within the time of
            --within, or does it wrong. A stack that is too busy for it is well: that is said, too.
            """,
        examples: [
            ("imagebus health", "the whole stack"),
            ("imagebus health --canary --within 2s", "whether an image comes through in 2 s"),
            ("imagebus health --only decode", "a container of decoders, as its health check"),
        ])
}

/// The options of `status`.
struct StatusOptions: Hashable {
    /// The output format.
    enum Format: Hashable {
        case table
        case json
        case prometheus
    }

    var format: Format
    /// Whether to repeat until Ctrl-C.
    var watches: Bool
    /// The output file; `nil` for standard output.
    var output: String?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        watches = read.isSet("watch")
        output = try read.parsed("output", OptionValue.path)
        let isMetrics = read.isSet("prometheus")
        guard !isMetrics || !stack.printsJSON else {
            throw UsageError("--json and --prometheus are two forms of the same: give one of them")
        }
        format = isMetrics ? .prometheus : stack.printsJSON ? .json : .table
        guard !watches || (output == nil && !isMetrics) else {
            throw UsageError(
                "--watch is for a terminal or a pipe; serve --metrics-file keeps a file up to date")
        }
    }
}

/// `imagebus status`: the coordinator's status report.
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

/// `status --watch`: prints the status every second, in place on a terminal, otherwise one after
/// the other.
final class StatusWatch {
    private let options: StatusOptions
    private let isTerminal: Bool
    private var last: StatusReport?

    private static let intervalMilliseconds = 1_000

    init(_ options: StatusOptions) {
        self.options = options
        isTerminal = options.format == .table && isatty(1) == 1
    }

    /// Runs until the reader closes the output or a signal arrives. A stack that is missing at the
    /// start is an error; one that disappears later is waited for.
    func run() -> Int32 {
        if isTerminal { Terminal.control(1, Self.clearScreen) }
        while true {
            var text: String
            do {
                text = try look()
            } catch let error as ImageError where last == nil {
                Terminal.complain("status", of: error)
                return error.exitStatus
            } catch {
                text = "\(error)\n"
            }
            let isRead =
                isTerminal
                ? Terminal.control(1, Self.inPlace(text, on: TerminalScreen.current))
                : Terminal.out(text)
            guard isRead else { return 0 }
            _ = try? ReadinessPoll.wait([], milliseconds: Self.intervalMilliseconds)
        }
    }

    private func look() throws -> String {
        let report = try StatusCommand.report(options.stack)
        defer { last = report }
        guard options.format == .table else {
            return try StatusCommand.text(report, options.format)
        }
        return StatusTable.summary(report, since: last) + (isTerminal ? "" : "\n")
    }

    /// Formats a text so that each line replaces the previous one without flicker. Lines that don't
    /// fit on the screen are omitted with a note; otherwise the screen would scroll.
    static func inPlace(_ text: String, on screen: TerminalScreen?) -> String {
        var lines = PlainText.lines(text).split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        if let screen {
            lines = lines.map { $0.prefix(screen.columns) }
            if lines.count > screen.rows {
                let rest = lines.count - (screen.rows - 1)
                let note = "… \(rest) more lines: make the window higher, or imagebus status"
                lines = lines.prefix(screen.rows - 1) + [note.prefix(screen.columns)]
            }
        }
        return "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J"
    }

    private static let clearScreen = "\u{1B}[2J"
}
