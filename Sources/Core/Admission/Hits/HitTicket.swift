public import Messages

/// A hit that was found the whole way once. The same load again, whoever makes it, gets the same
/// answer for as long as `Hits` says that it stands.
public struct HitTicket: Hashable, Sendable {
    let place: HitIndex.Place
    /// Of the configuration by which the load was read.
    let term: UInt64
    /// The plain text of its original, and on what header fields that depended: what is learned of
    /// other texts concerns it not.
    let plainOriginal: String
    let fields: [String]?
    /// What must not be on the deny list; `nil` where that does not matter.
    let source: ScopedSource?
    /// The answer.
    public let image: DeliveredImage
}
