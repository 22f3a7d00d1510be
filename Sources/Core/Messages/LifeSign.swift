/// What a child tells its supervisor on a pipe: a word, its incarnation in hex, a line feed.
public struct LifeSign: Hashable, Sendable {
    /// How far it is.
    public enum Stage: String, Hashable, Sendable {
        /// Its start is over, and its control page is there; it looks for its coordinator.
        case begun
        /// It is part of the stack: welcomed, or, as the coordinator, with its sockets bound.
        case ready
        /// Its loop turns: a front says so once a second.
        case alive
    }

    /// How far it is.
    public let stage: Stage
    /// Who says so.
    public let incarnation: Incarnation

    /// The longest line, without its feed.
    public static let lineBytesMax = 6 + Identifier128.byteCount * 2

    /// Names both.
    public init(_ stage: Stage, _ incarnation: Incarnation) {
        self.stage = stage
        self.incarnation = incarnation
    }

    /// Reads a line without its feed; nil where it is none of ours.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let stage = Stage(rawValue: String(words[0])),
            let bits = Identifier128(hex: String(words[1]))
        else { return nil }
        self.init(stage, Incarnation(bits))
    }

    /// The whole line.
    public var line: String { "\(stage.rawValue) \(incarnation.value.hex)\n" }
}
