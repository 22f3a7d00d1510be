/// The basic properties of an encoded image.
public struct ImageInfo: Hashable, Sendable {
    /// The format.
    public var format: ImageFormat
    /// The displayed size in pixels.
    public var size: PixelSize
    /// The number of frames or pages, at least one.
    public var pages: Int
    /// Whether there is an alpha channel.
    public var hasAlpha: Bool
    /// If this is the first of several frames or pages, the number of those in the source, at least
    /// two; `nil` if the image contains everything that its source does.
    public var stillOf: Int?
    /// Bits per sample, 9 to 64; 8 for up to 8 bits.
    public var bits: Int
    /// Whether the colors have a high dynamic range: PQ or HLG.
    public var isHDR: Bool

    /// Creates the properties found by a decoder or encoder.
    public init(
        format: ImageFormat, size: PixelSize, pages: Int = 1, hasAlpha: Bool = false,
        stillOf: Int? = nil, bits: Int = 8, isHDR: Bool = false
    ) {
        self.format = format
        self.size = size
        self.pages = pages
        self.hasAlpha = hasAlpha
        self.stillOf = stillOf
        (self.bits, self.isHDR) = (bits, isHDR)
    }

    package static let bitsRange = 8...64

    /// The number of parts of one image that are all needed to display it; independent pages don't
    /// count. For formats decoded by plug-ins, pages are frames.
    package var frames: Int { format.traits.input?.pages == .images ? 1 : pages }

    /// Returns these properties for a result of `source`, `nil` for an image of one color. A single
    /// page of several is a still. An encoder may merge identical frames.
    package func derived(from source: ImageInfo?) -> ImageInfo {
        var info = self
        info.stillOf = source.flatMap { pages == 1 && $0.pages > 1 ? $0.pages : nil }
        return info
    }
}

/// Properties of an image that were requested; `nil` or absent if the source doesn't state them or
/// they were not requested. Texts are controlled by the author of the file: escape them for
/// display.
public struct ImageProperties: Hashable, Sendable {
    /// The orientation from EXIF or XMP, 1 to 8; sizes are always those of the displayed image.
    public var orientation: Int?
    /// Bits per sample in the file, 1 to 64.
    public var bitsPerSample: Int?
    /// The name of the embedded ICC profile.
    public var profile: String?
    /// EXIF fields written by the camera.
    public var exif: [ExifField: String] = [:]
    /// The mean of all pixels in sRGB, weighted by alpha; its alpha is the mean alpha.
    public var average: Color?
    /// The mean of the most frequent cluster of pixels, with sixteen levels per channel; opaque.
    /// `nil` for a fully transparent image.
    public var dominant: Color?
    /// The BlurHash of the image over white.
    public var blurHash: String?
    /// The ThumbHash, in Base64.
    public var thumbHash: String?

    /// The frame timing of an animation; `nil` if the source isn't one.
    public var animation: AnimationProperties?

    /// Creates empty properties.
    public init() {}

    /// The maximum length in bytes of a profile name or Base64 ThumbHash.
    package static let nameBytesMax = RequestLimits.nameBytesMax

    /// Returns only the requested properties, whatever the worker reported.
    package func only(_ kinds: FactKinds) -> ImageProperties {
        var properties = ImageProperties()
        if kinds.contains(.header) {
            properties.orientation = orientation
            properties.bitsPerSample = bitsPerSample
            properties.profile = profile
        }
        properties.exif = exif.filter { kinds.contains($0.key.kind) }
        if kinds.contains(.colors) {
            (properties.average, properties.dominant) = (average, dominant)
        }
        if kinds.contains(.blurHash) { properties.blurHash = blurHash }
        if kinds.contains(.thumbHash) { properties.thumbHash = thumbHash }
        if kinds.contains(.animation) { properties.animation = animation }
        return properties
    }
}

/// The requested properties of an image, and their resolution.
public struct RequestedProperties: Hashable, Sendable {
    /// The requested kinds; empty for just the properties in `ImageInfo`, which every image has.
    public var kinds: FactKinds
    /// Components of the BlurHash in each direction, 1 to 9 each.
    public var blurHash: PixelSize

    /// Accepts any numbers; values beyond the limits are rejected with the request.
    public init(_ kinds: FactKinds = [], blurHash: PixelSize = Self.usualBlurHash) {
        (self.kinds, self.blurHash) = (kinds, blurHash)
    }

    /// 4 by 3, the default suggested by the BlurHash authors.
    public static let usualBlurHash = PixelSize(width: 4, height: 3)

    /// The valid number of BlurHash components in one direction.
    package static let blurHashSides = 1...9

    /// The syntax that `init` accepts, for help and errors.
    package static let expected =
        "a comma-separated list of \(FactKinds.names.joined(separator: ", ")); "
        + "blurhash:5x4 sets the number of components, 1 to 9 per side"

    /// Parses words separated by commas, such as `exif,blurhash:5x4`; returns `nil` for anything
    /// else.
    public init?(_ text: String) {
        self.init()
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = word.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = FactKinds.formerNames[String(parts[0])] ?? String(parts[0])
            guard let kind = FactKinds.words.first(where: { $0.name == name })?.kind else {
                return nil
            }
            kinds.insert(kind)
            guard parts.count > 1 else { continue }
            guard kind == .blurHash, let size = PixelSize(String(parts[1])) else { return nil }
            blurHash = size
        }
        guard isValid else { return nil }
    }

    /// Whether this version supports all of it.
    var isValid: Bool {
        kinds.isSubset(of: .known) && Self.blurHashSides.contains(blurHash.width)
            && Self.blurHashSides.contains(blurHash.height)
    }

    /// Whether pixels must be decoded for these properties.
    package var needPixels: Bool { !kinds.isDisjoint(with: .ofPixels) }

    /// Throws if a request may not ask for these properties.
    package func check() throws(ImageError) {
        try ImageError.require(isValid, "facts: expected \(Self.expected)")
    }
}

/// Optional properties of an image in addition to format, size and pages, selected by the request
/// (SEMANTICS §11.15).
public struct FactKinds: OptionSet, Hashable, Sendable {
    /// The bits of `WantedFacts.kinds` in `imagebus.proto`.
    public let rawValue: UInt32

    /// Accepts any bits; unknown ones are rejected with the request.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The stored orientation, the name of the ICC profile, and the bits per sample.
    public static let header = FactKinds(rawValue: 1 << 0)
    /// EXIF fields written by the camera, without the location.
    public static let exif = FactKinds(rawValue: 1 << 1)
    /// The location written by the camera.
    public static let gps = FactKinds(rawValue: 1 << 2)
    /// The average color and the dominant color.
    public static let colors = FactKinds(rawValue: 1 << 3)
    /// A BlurHash.
    public static let blurHash = FactKinds(rawValue: 1 << 4)
    /// A ThumbHash.
    public static let thumbHash = FactKinds(rawValue: 1 << 5)

    /// The duration of each frame of an animation, and the loop count.
    public static let animation = FactKinds(rawValue: 1 << 6)

    static let words: [(name: String, kind: FactKinds)] = [
        ("header", .header), ("exif", .exif), ("gps", .gps), ("colors", .colors),
        ("blurhash", .blurHash), ("thumbhash", .thumbHash), ("animation", .animation),
    ]

    /// Former names, which are accepted too, with those that replaced them.
    package static let formerNames = ["colours": "colors"]

    /// The names of all kinds, for help and errors.
    package static let names = words.map(\.name)

    /// All kinds supported by this version.
    package static let known = FactKinds(words.map(\.kind))

    /// The kinds that need decoded pixels.
    package static let ofPixels: FactKinds = [.colors, .blurHash, .thumbHash]
}

/// The EXIF fields that are reported, with their names on the wire and in JSON. Each value is a
/// text; numbers are decimal with a point.
public enum ExifField: String, Hashable, Sendable, CaseIterable {
    /// The camera manufacturer.
    case make
    /// The camera model.
    case model
    /// The lens model.
    case lens
    /// The capture time as written by the camera: `2022:07:04 21:17:16`.
    case dateTaken
    /// The exposure time, in seconds.
    case exposureSeconds
    /// The f-number: 5.6 for f/5.6.
    case aperture
    /// The ISO sensitivity.
    case iso
    /// The focal length in millimeters.
    case focalLengthMillimetres
    /// The photographer.
    case artist
    /// The copyright holder.
    case copyright
    /// Degrees north, negative for south.
    case latitude
    /// Degrees east, negative for west.
    case longitude
    /// Meters above sea level, negative below.
    case altitudeMetres

    /// The maximum number of bytes of a value; longer texts are truncated at a character boundary.
    public static let valueBytesMax = 128

    /// The kind of property that includes this field.
    package var kind: FactKinds {
        switch self {
        case .latitude, .longitude, .altitudeMetres: .gps
        default: .exif
        }
    }
}

/// The frame timing of an animation (SEMANTICS §11.30).
public struct AnimationProperties: Hashable, Sendable {
    /// The duration of each frame in microseconds; at most the first `framesMax` frames.
    public var durations: [UInt32]
    /// SDWebImage's loop count; 0 for an infinite loop. For a GIF it is the number in the file,
    /// which counts repetitions: a GIF with 2 is played three times.
    public var loops: Int
    /// How often all frames are played; 0 for an infinite loop.
    public var plays: Int

    /// Accepts any numbers.
    ///
    /// - Parameter plays: `nil` for the value of `loops`.
    public init(durations: [UInt32], loops: Int, plays: Int? = nil) {
        (self.durations, self.loops, self.plays) = (durations, loops, plays ?? loops)
    }

    /// The maximum number of frames whose durations are reported.
    public static let framesMax = 16_384
}
