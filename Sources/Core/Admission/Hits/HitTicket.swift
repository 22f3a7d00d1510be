public import Messages

/// A hit that was found the whole way once. The same load again, whoever makes it, gets the same
/// answer for as long as `Hits` says that it stands.
public struct HitTicket: Hashable, Sendable {
    let place: HitIndex.Place
    /// The term of the configuration by which the load was read.
    let term: UInt64
    /// The plain text of its original, and the header fields on which that depended. What is
    /// learned of other texts does not matter.
    let plainOriginal: String
    let fields: [String]?
    /// The source that must not be on the deny list; `nil` where that does not matter.
    let source: ScopedSource?
    /// Whether an entry of the list counts that is of its pixels alone.
    let needsPixels: Bool
    /// The answer.
    public let image: DeliveredImage
}
