/// How long what is stale may be served at most, as far as a configuration says it
/// (SEMANTICS §6.6).
public struct StaleLimits: Hashable, Sendable {
    /// Seconds, while the origin is asked; `nil`: as usual.
    public var whileRevalidate: Int64?
    /// Seconds, where it fails; `nil`: as usual.
    public var ifError: Int64?

    /// Says nothing.
    public init() {}

    /// The seconds that may be said: those of RFC 9111 §1.2.2.
    public static let range: ClosedRange<Int64> = 0...DeltaSeconds.most

    /// What a later rule says wins.
    public mutating func merge(_ later: StaleLimits) {
        whileRevalidate = later.whileRevalidate ?? whileRevalidate
        ifError = later.ifError ?? ifError
    }
}
