import ImageModel
import Messages

/// What a reply says of its image, apart from the bytes: written once, and shared by all responses
/// to which it applies.
final class ImageAccount: Sendable {
    let status: ImageResponse.Status
    let info: ImageInfo?
    let facts: ImageFacts?
    let explanation: Explanation?
    let cacheType: CacheTypes
    let key: String
    let timings: StageTimings
    let storedTiers: CacheTypes?
    let scaleFactor: Double
    let fallbackFor: ImageError?
    let validity: Validity?
    let digest: ContentDigest?
    let extendedData: ExtendedData?
    let isDamaged: Bool

    /// Of an image.
    init(of image: DeliveredImage, _ timings: StageTimings) {
        status = .ok
        info = image.info
        facts = image.facts
        explanation = image.explanation
        cacheType = image.cacheType
        key = image.key
        self.timings = timings
        storedTiers = image.storedTiers
        scaleFactor = image.scaleFactor
        fallbackFor = image.fallbackFor
        validity = image.validity
        digest = image.digest
        extendedData = image.extendedData
        isDamaged = image.isDamaged
    }

    /// Of a miss.
    init(missOf key: String, _ timings: StageTimings) {
        status = .miss
        (info, facts, explanation, storedTiers) = (nil, nil, nil, nil)
        cacheType = .none
        self.key = key
        self.timings = timings
        scaleFactor = 1
        (fallbackFor, validity, digest, extendedData) = (nil, nil, nil, nil)
        isDamaged = false
    }

    /// Of the same image, as an answer of the memory tier.
    init(ofMemory other: ImageAccount) {
        status = other.status
        info = other.info
        facts = other.facts
        explanation = other.explanation
        cacheType = .memory
        key = other.key
        timings = StageTimings()
        scaleFactor = other.scaleFactor
        validity = other.validity
        digest = other.digest
        (storedTiers, fallbackFor, extendedData) = (nil, nil, nil)
        isDamaged = other.isDamaged
    }
}
