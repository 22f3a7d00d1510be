/// Facts of an image beside format, size and pages, of which a request says which it wants
/// (SEMANTICS §11.15).
public struct FactKinds: OptionSet, Hashable, Sendable {
    /// The bits, as PROTOCOL §7.1 numbers them.
    public let rawValue: UInt32

    /// Takes any bits; unknown ones are refused with the request.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The orientation as stored, the name of the ICC profile, the bits of a sample.
    public static let header = FactKinds(rawValue: 1 << 0)
    /// What the camera wrote, without the place.
    public static let exif = FactKinds(rawValue: 1 << 1)
    /// The place that the camera wrote.
    public static let gps = FactKinds(rawValue: 1 << 2)
    /// The average colour and the dominant one.
    public static let colours = FactKinds(rawValue: 1 << 3)
    /// A BlurHash.
    public static let blurHash = FactKinds(rawValue: 1 << 4)
    /// A ThumbHash.
    public static let thumbHash = FactKinds(rawValue: 1 << 5)

    /// How long each frame of an animation is shown, and how often all of them.
    public static let animation = FactKinds(rawValue: 1 << 6)

    static let words: [(name: String, kind: FactKinds)] = [
        ("header", .header), ("exif", .exif), ("gps", .gps), ("colours", .colours),
        ("blurhash", .blurHash), ("thumbhash", .thumbHash), ("animation", .animation),
    ]

    /// The words for them, for help and errors.
    package static let names = words.map(\.name)

    /// Those that this version knows.
    package static let known = FactKinds(words.map(\.kind))

    /// Those for which pixels are decoded.
    package static let ofPixels: FactKinds = [.colours, .blurHash, .thumbHash]
}
