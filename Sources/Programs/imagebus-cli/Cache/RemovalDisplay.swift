import CommandLineInterface
import Linux
import Messages
import Synchronization

/// Shows on standard error how far a removal in steps is: on a terminal one line that is drawn over
/// and over, elsewhere a line a second. Any thread.
final class RemovalDisplay: Sendable {
    private let bar = Terminal.errorIsTerminal ? ProgressBar() : nil
    private let shownAt = Mutex<UInt64?>(nil)
    private static let pauseNanoseconds: UInt64 = 1_000_000_000

    func show(_ page: EntryPage) {
        if let bar { return bar.show(page) }
        let now = MonotonicClock.now()
        let isDue = shownAt.withLock { shownAt in
            if let shown = shownAt, now - shown < Self.pauseNanoseconds { return false }
            shownAt = now
            return true
        }
        if isDue { Terminal.error("imagebus cache: \(Self.text(page))\n") }
    }

    /// Nothing is shown any more.
    func end() { bar?.end() }

    static func text(_ page: EntryPage) -> String {
        let examined = page.total == 0 ? "\(page.examined)" : "\(page.examined) of \(page.total)"
        return "removed \(page.disk.entries), examined \(examined)"
    }
}
