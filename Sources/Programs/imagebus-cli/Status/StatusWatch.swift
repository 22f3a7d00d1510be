import CommandLineInterface
import Glibc
import ImageModel
import Messages
import Observability
import Reporting
import StackAccess
import Supervision

/// `status --watch`: every second, in place on a terminal, one after the other elsewhere.
final class StatusWatch {
    private let options: StatusOptions
    private let isTerminal: Bool
    private var last: StatusReport?

    private static let intervalMilliseconds = 1_000

    init(_ options: StatusOptions) {
        self.options = options
        isTerminal = options.format == .table && isatty(1) == 1
    }

    /// Until nobody reads any more or a signal ends it. A stack that is not there at first is an
    /// error; one that goes is waited for.
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

    /// Each line replaces the one that was there, without a flicker. What the screen has no room
    /// for is left out, and that is said: else it would move up, and its beginning out of sight.
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
