/// Why a value is not written as JSON, or why a text is not the JSON that is read here.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and where.
    public let reason: String

    /// A fault in words.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}

/// What a text may be at most that is read. Nobody may have it say more: jansson itself reads at
/// most 2,048 values within one another.
public enum JSONLimits {
    /// Bytes of the text.
    public static let bytesMax = 1 << 16
}
