/// How often work was joined that was under way, and what the cache had of it, since the start.
package struct DerivationFigures: Sendable {
    /// Waiters that joined a query of their result's key.
    package internal(set) var joinedLookups: UInt64 = 0
    /// Waiters that joined a result which was being made.
    package internal(set) var joinedResults: UInt64 = 0
    /// Results and waiters that joined a decode.
    package internal(set) var joinedDecodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    package internal(set) var joinedSources: UInt64 = 0
    /// Originals that the cache had.
    package internal(set) var originalHits: UInt64 = 0
    /// Images of what had arrived so far that were made.
    package internal(set) var partials: UInt64 = 0
}
