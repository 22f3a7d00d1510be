import ImageModel
import Messages

/// A source that is to be refused.
struct Denial: Sendable {
    let source: ScopedSource
    /// Why, and how far.
    let refusal: Refusal
    /// As operators see it, without user info.
    let url: String
    let at: Instant
    /// The last number that an entry of any deny list has.
    let lastNumber: UInt64
}
