package import ImageModel
package import Messages

/// An image that was made for waiters, or its facts.
package struct Made: Sendable {
    package let image: DeliveredImage
    package let timings: StageTimings
    /// What tells the bytes that it was made of from others.
    package let mark: BodyMark
    /// What their origin says of caching, as far as that is known.
    package let caching: OriginCaching?
    /// What an operator put beside these.
    package let extendedData: ExtendedData?
    /// Whether these came from the cache.
    package let isOfCachedOriginal: Bool
    /// Whether these were fetched for the waiters.
    package let isFetched: Bool
    /// How these came, what was decoded for it, and how it was made of that.
    package let fetched: FetchAccount?
    package let decoded: DecodeAccount?
    package let transformed: TransformAccount?

    init(_ image: DeliveredImage, _ result: borrowing ResultNode) {
        self.image = image
        timings = result.timings
        mark = result.provenance.mark
        caching = result.provenance.caching
        extendedData = result.provenance.extendedData
        isOfCachedOriginal = result.provenance.tier != .none
        isFetched = result.name.origin.isFetched
        fetched = result.provenance.fetched
        (decoded, transformed) = (result.decoded, result.transformed)
    }
}
