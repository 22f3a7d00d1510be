/// Facts of an image that were asked for; `nil`, or not there, for what the source does not say or
/// was not asked. Who made the file may have written any text: escape it where it is shown.
public struct ImageFacts: Hashable, Sendable {
    /// As EXIF or XMP of the file says it, 1 to 8; sizes are those of the displayed image anyway.
    public var orientation: Int?
    /// Bits of each sample in the file, 1 to 64.
    public var bitsPerSample: Int?
    /// What the embedded ICC profile calls itself.
    public var profile: String?
    /// What the camera wrote.
    public var exif: [ExifField: String]
    /// The mean of all pixels in sRGB, each as far as it is seen; its alpha is the mean of theirs.
    public var average: Colour?
    /// The mean of the most frequent sort of pixels, of sixteen grades of each colour; opaque. An
    /// image of which nothing is seen has none.
    public var dominant: Colour?
    /// A BlurHash of the image over white.
    public var blurHash: String?
    /// A ThumbHash, in Base64.
    public var thumbHash: String?

    /// The frames of an animation; `nil` where the source is none.
    public var animation: AnimationFacts?

    /// Nothing known.
    public init() { exif = [:] }

    /// Bytes of a profile's name, of a ThumbHash in Base64, and of a BlurHash.
    package static let nameBytesMax = RequestLimits.nameBytesMax
    package static let blurHashBytesMax = 6 + 2 * (9 * 9 - 1)

    /// Without what was not asked for, whoever says it.
    package func only(_ kinds: FactKinds) -> ImageFacts {
        var facts = ImageFacts()
        if kinds.contains(.header) {
            facts.orientation = orientation
            facts.bitsPerSample = bitsPerSample
            facts.profile = profile
        }
        facts.exif = exif.filter { kinds.contains($0.key.kind) }
        if kinds.contains(.colours) { (facts.average, facts.dominant) = (average, dominant) }
        if kinds.contains(.blurHash) { facts.blurHash = blurHash }
        if kinds.contains(.thumbHash) { facts.thumbHash = thumbHash }
        if kinds.contains(.animation) { facts.animation = animation }
        return facts
    }
}
