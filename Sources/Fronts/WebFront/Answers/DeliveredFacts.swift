package import ImageModel
package import Messages

/// What is known of a load that ended well when its answer is made.
package struct DeliveredFacts: Hashable, Sendable {
    /// What the image is; `nil` where no cache has it, and of what is no image.
    package var info: ImageInfo?
    /// What else was asked for of it.
    package var facts: ImageFacts?
    /// Bytes of the image; `nil`: there are none.
    package var byteCount: Int?
    package var digest: ContentDigest?
    package var validity: Validity?
    package var timings: StageTimings
    /// The tiers that had it, or the original of which it was made; none: that was fetched.
    package var tiers = CacheTypes.none
    /// Whether the bytes are an SVG that is compressed (`.svgz`).
    package var isGzipped = false
    /// Whether it was made of a damaged source, of which pixels are missing.
    package var isDamaged = false
    /// Why it is the fallback of the one that was asked for.
    package var fallbackFor: ImageError?

    package init(
        _ info: ImageInfo?, facts: ImageFacts? = nil, byteCount: Int?,
        digest: ContentDigest? = nil, validity: Validity? = nil,
        timings: StageTimings = StageTimings(), fallbackFor: ImageError? = nil
    ) {
        (self.info, self.facts, self.byteCount) = (info, facts, byteCount)
        (self.digest, self.validity) = (digest, validity)
        (self.timings, self.fallbackFor) = (timings, fallbackFor)
    }

    /// Its format; `nil` of what is no known image.
    package var format: ImageFormat? { info?.format }
}
