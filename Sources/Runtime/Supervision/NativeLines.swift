/// The text of native libraries, in lines for the log, within a budget of lines and bytes.
///
/// A hostile image can make a decoder write as much as it likes. A value without a clock: the
/// caller passes in monotonic nanoseconds.
struct NativeLines: Sendable {
    /// Bytes of a line that are kept; the rest of it is dropped.
    static let lineBytesMax = 512
    /// Lines that may come at once: enough for the report of a crash.
    static let burst: UInt64 = 200
    /// How long it takes until one more line may come.
    static let nanosecondsPerLine: UInt64 = 1_000_000_000

    private var line: [UInt8] = []
    private var spent: UInt64 = 0
    private var refilledAt: UInt64 = 0
    private var dropped: UInt64 = 0

    /// Whether no line may come for now.
    var isSpent: Bool { spent >= Self.burst }

    /// Takes bytes; the lines that are whole now and go to the log.
    mutating func take(_ bytes: [UInt8], at now: UInt64) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(now, into: &lines)
            } else if line.count < Self.lineBytesMax {
                line.append(byte)
            }
        }
        return lines
    }

    /// Nothing more comes: what is left, and how many lines were dropped.
    mutating func end(at now: UInt64) -> [String] {
        var lines: [String] = []
        if !line.isEmpty { endLine(now, into: &lines) }
        if dropped > 0 { lines.append(takeDropped()) }
        return lines
    }

    private mutating func endLine(_ now: UInt64, into lines: inout [String]) {
        defer { line = [] }
        guard !line.isEmpty else { return }
        refill(now)
        guard spent < Self.burst else {
            dropped += 1
            return
        }
        spent += 1
        if dropped > 0 { lines.append(takeDropped()) }
        lines.append(String(decoding: line, as: UTF8.self))
    }

    private mutating func refill(_ now: UInt64) {
        guard now > refilledAt else { return }
        let earned = (now - refilledAt) / Self.nanosecondsPerLine
        guard earned > 0 else { return }
        spent -= min(spent, earned)
        refilledAt = spent == 0 ? now : refilledAt + earned * Self.nanosecondsPerLine
    }

    private mutating func takeDropped() -> String {
        defer { dropped = 0 }
        return "(\(dropped) lines were dropped)"
    }
}
