import CommandLineInterface
import Glibc
import Imagebus
import Model
import ProcessRuntime
import Reporting
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
                    OptionDefinition(
                        "all",
                        "also show each process, pools, named caches and read-only directories, "
                            + "sockets, cancels, transfers and all counters"),
                    OptionDefinition("watch", "refresh every second until Ctrl-C"),
                    OptionDefinition(
                        "prometheus", "print metrics in the Prometheus text format, version 0.0.4"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "write the output to FILE atomically, for example for the textfile "
                            + "collector of node_exporter"),
                ]
            )
        ],
        notes: """
            Prints what needs attention and one screen of tables; JSON and metrics always have
            everything. Queries the coordinator through admin/, so it requires the user who runs the
            stack.
            Exits 69 if no coordinator answers. Wait and work times cover all jobs since the
            coordinator started. Hits in the coordinator's index are not included, because no stage
            is involved.
            """,
        examples: [
            ("imagebus status", "print one screen"),
            ("imagebus status --all", "print all tables"),
            ("imagebus status --json", "print JSON"),
            ("imagebus status --watch", "refresh the screen in place"),
            (
                "imagebus status --prometheus -o /var/lib/node_exporter/imagebus.prom",
                "write metrics once; serve --metrics-file updates them regularly"
            ),
        ])

    static let health = Command(
        name: "health",
        summary: "exit 0 if the stack is healthy, 1 if not",
        usage: "[options]",
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "only", value: "KIND",
                        of: .words(ProcessKind.all.map(\.name)),
                        "check only processes of this kind: coordinator, download, cache, "
                            + "decode, transform or gateway"),
                    OptionDefinition(
                        "canary", "also process a small test image"),
                    within, .endpoint, .runtimeDirectory,
                    OptionDefinition("config", value: "FILE", visibility: .later),
                ]
            )
        ],
        notes: """
            Exits 0 if the coordinator answers within 2 s and at least one worker of each kind and
            of each configured pool accepts jobs, since requests wait for missing workers. Otherwise
            exits 1 and prints the reason to standard error. With --only, it checks only this
            runtime directory: whether the coordinator answers, or whether the supervisors of that
            kind report all their processes as running and connected.

            --canary sends a small image through coordinator, cache, decoder and transformer,
            bypassing the caches and without an origin. It names the first one that doesn't answer
            correctly within the time of --within. If the stack is too busy to accept the test
            image, health prints that and exits 0.
            """,
        examples: [
            ("imagebus health", "check the whole stack"),
            ("imagebus health --canary --within 2s", "also process a test image within 2 s"),
            ("imagebus health --only decode", "health check of a container with decoders"),
        ])
}

struct StatusOptions: Hashable {
    /// The output format.
    enum Format: Hashable {
        case table
        case json
        case prometheus
    }

    var format: Format
    /// Whether tables show everything.
    var showsAll: Bool
    /// Whether to repeat until Ctrl-C.
    var watches: Bool
    /// The output file; `nil` for standard output.
    var output: String?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        showsAll = read.isSet("all")
        watches = read.isSet("watch")
        output = try read.parsed("output", OptionValue.path)
        let isMetrics = read.isSet("prometheus")
        guard !isMetrics || !stack.printsJSON else {
            throw UsageError("--json and --prometheus cannot be combined")
        }
        format = isMetrics ? .prometheus : stack.printsJSON ? .json : .table
        guard !watches || (output == nil && !isMetrics) else {
            throw UsageError("--watch cannot be combined with --output or --prometheus")
        }
    }
}

/// `imagebus status`: the coordinator's status report.
enum StatusCommand {
    static func run(_ options: StatusOptions) throws -> Int32 {
        if options.watches { return try StatusWatch(options).run() }
        let text = try text(try report(options.stack), options)
        guard let output = options.output else { return Terminal.finish("status", text) }
        try OutputFile(output).write(Array(text.utf8))
        return 0
    }

    static func report(_ stack: OperatorOptions) throws(ImageError) -> StatusReport {
        try OperatorQuery.ask(stack) { client throws(ImageError) in try await client.status() }
    }

    /// With an earlier report, tables also show rates since then.
    static func text(
        _ report: StatusReport, _ options: StatusOptions, since earlier: StatusReport? = nil
    ) throws -> String {
        switch options.format {
        case .table: StatusTable.text(report, since: earlier, all: options.showsAll)
        case .json: try JSONText.text(StatusAnswer.object(report))
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
    func run() throws -> Int32 {
        if isTerminal { Terminal.control(1, Self.clearScreen) }
        while true {
            var text: String
            do {
                text = try look()
            } catch let error as ImageError where last == nil {
                throw error
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
        let isSeparated = options.format == .table && !isTerminal
        return try StatusCommand.text(report, options, since: last) + (isSeparated ? "\n" : "")
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
                let note = "… \(rest) more lines: enlarge the window or run imagebus status"
                lines = lines.prefix(screen.rows - 1) + [note.prefix(screen.columns)]
            }
        }
        return "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J"
    }

    private static let clearScreen = "\u{1B}[2J"
}
