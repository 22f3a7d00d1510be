import CommandLineInterface
import Imagebus
import Linux
import Messages
import Reporting
import Synchronization

/// One line on standard error that is drawn over and over, and wiped at the end. Any thread.
final class ProgressBar: Sendable {
    private struct State {
        var isOver = false
        var drawnAt: UInt64 = 0
    }

    private let state = Mutex(State())
    private static let width = 30
    private static let pauseNanoseconds: UInt64 = 50_000_000
    private static let wipe = "\r\u{1B}[K"

    /// How far a transfer is.
    func show(_ progress: RequestProgress) { show(Self.text(progress)) }

    /// How far a prefetch is.
    func show(_ counts: PrefetchCounts) { show(Self.text(counts)) }

    /// How many of several parts are there.
    func show(_ done: Int, of total: Int) { show(Self.text(done, of: total)) }

    /// How far a removal is, in entries that were examined.
    func show(_ removal: EntryPage) { show(RemovalDisplay.text(removal)) }

    /// Draws, unless it did a moment ago or is over.
    private func show(_ text: @autoclosure () -> String) {
        let now = MonotonicClock.now()
        state.withLock { state in
            guard !state.isOver, now - state.drawnAt >= Self.pauseNanoseconds else { return }
            state.drawnAt = now
            Terminal.control(2, Self.wipe + text())
        }
    }

    /// Wipes the line; nothing is drawn any more.
    func end() {
        state.withLock { state in
            if state.drawnAt > 0, !state.isOver { Terminal.control(2, Self.wipe) }
            state.isOver = true
        }
    }

    static func text(_ progress: RequestProgress) -> String {
        let received = ByteText.text(progress.received)
        guard progress.expected > 0 else { return received }
        let part = min(1, Double(progress.received) / Double(progress.expected))
        return "\(bar(part)) \(Int(part * 100))% of \(ByteText.text(progress.expected))"
    }

    static func text(_ counts: PrefetchCounts) -> String {
        let part = Double(counts.finished) / Double(max(1, counts.total))
        let failed = counts.skipped > 0 ? ", failed \(counts.skipped)" : ""
        return "\(bar(part)) \(counts.finished) of \(counts.total)\(failed)"
    }

    static func text(_ done: Int, of total: Int) -> String {
        "\(bar(Double(done) / Double(max(1, total)))) \(done) of \(total)"
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * Double(width))
        return "[" + String(repeating: "#", count: full)
            + String(repeating: ".", count: width - full) + "]"
    }
}
