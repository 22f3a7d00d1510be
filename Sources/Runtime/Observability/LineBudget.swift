/// How many lines of one sort may be written, so that a flood of events cannot fill a disk.
///
/// A value without a clock: the caller says when it is, on the clock that it likes best.
public struct LineBudget: Sendable {
    /// What becomes of a line.
    public enum Verdict: Hashable, Sendable {
        /// It is written, after saying that so many were left out since the last one.
        case write(leftOut: UInt64)
        /// It is left out, and counted.
        case leaveOut
    }

    private let linesPerSecond: UInt64
    private var second: UInt64?
    private var written: UInt64 = 0
    private var leftOut: UInt64 = 0

    /// So many lines in each second of the clock.
    public init(linesPerSecond: UInt64) { self.linesPerSecond = linesPerSecond }

    /// One more line wants to be written.
    public mutating func take(at nanoseconds: UInt64) -> Verdict {
        let now = nanoseconds / 1_000_000_000
        if now != second { (second, written) = (now, 0) }
        guard written < linesPerSecond else {
            leftOut += 1
            return .leaveOut
        }
        written += 1
        return .write(leftOut: takeLeftOut())
    }

    /// How many lines were left out and have not been told of; at the end.
    public mutating func takeLeftOut() -> UInt64 {
        defer { leftOut = 0 }
        return leftOut
    }
}
