import Derivation
import ImageModel
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
    /// What was done with the source.
    let operation: SourceOperation
    /// For how long an earlier failure counts; `nil`: as long as it is on the list.
    let earlierFailureMilliseconds: Int?
    /// Why it is fresh, where that counts.
    let freshness: Freshness?
    /// The answer.
    public internal(set) var image: DeliveredImage

    /// What origins said of an answer that is given as long as it is fresh.
    struct Freshness: Hashable, Sendable {
        let kept: OriginCaching?
        let mark: BodyMark
        /// What counted as the ticket was granted.
        let counted: OriginCaching
        /// When that was, in milliseconds since 1970.
        let countedAt: Int64
        /// It is fresh until then.
        let until: Instant
    }

    /// Until when it may stand; `nil`: for as long as nothing happens.
    var until: Instant? {
        guard let freshness else { return place.expiry }
        return place.expiry.map { min($0, freshness.until) } ?? freshness.until
    }

    /// Whether both say the same, whatever their vouchers are.
    public func saysTheSame(as other: HitTicket) -> Bool {
        var (left, right) = (self, other)
        (left.image.voucher, right.image.voucher) = (nil, nil)
        return left == right
    }
}
