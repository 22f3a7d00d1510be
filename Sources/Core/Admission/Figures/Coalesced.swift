/// How often work was joined that was under way, by level (SEMANTICS §3.1).
public struct Coalesced: Hashable, Sendable {
    /// Requests that joined a query of their result's key.
    public var lookups: UInt64 = 0
    /// Requests that joined a result which was being made.
    public var results: UInt64 = 0
    /// Results that joined a decode.
    public var decodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    public var sources: UInt64 = 0

    /// None.
    public init() {}

    /// Requests that joined anything.
    public var requests: UInt64 { lookups + results }
}
