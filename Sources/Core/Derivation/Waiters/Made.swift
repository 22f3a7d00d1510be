import ImageModel
package import Messages

/// An image that was made for those who wait, or its facts.
package struct Made: Sendable {
    package let image: DeliveredImage
    package let timings: StageTimings
    /// By what the bytes are known again of which it was made.
    package let mark: BodyMark
    /// Whether these came from the cache.
    package let isOfCachedOriginal: Bool
    /// Whether they were fetched for those who wait.
    package let isFetched: Bool

    init(_ image: DeliveredImage, _ result: ResultNode) {
        self.image = image
        timings = result.timings
        mark = result.provenance.mark
        isOfCachedOriginal = result.provenance.tier != .none
        isFetched = result.name.origin.isFetched
    }
}
