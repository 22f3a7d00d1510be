/// What is known of an encoded image.
public struct ImageInfo: Hashable, Sendable {
    /// Its format.
    public var format: ImageFormat
    /// Displayed size in pixels.
    public var size: PixelSize
    /// Frames or pages, at least one.
    public var pages: Int
    /// Whether it has an alpha channel.
    public var hasAlpha: Bool
    /// How many frames or pages the source has of which this is the first one, at least two; `nil`
    /// where the image shows all that its source has.
    public var stillOf: Int?
    /// Bits of a sample, 9 to 64; 8 where it has no more than these.
    public var bits: Int
    /// Whether its colours are of a high dynamic range: PQ or HLG.
    public var isHDR: Bool

    /// Facts as a decoder or encoder found them.
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

    /// What `bits` may be.
    package static let bitsRange = 8...64

    /// Parts of one image that whoever shows it needs all of; pages that are images of their own
    /// count for nothing. Of a format that others decode they are frames.
    package var frames: Int { format.traits.input?.pages == .images ? 1 : pages }

    /// The same of what was made of such a source, of one colour where there is none: one page of
    /// several is a still. An encoder may join frames that are the same.
    package func made(of source: ImageInfo?) -> ImageInfo {
        var info = self
        info.stillOf = source.flatMap { pages == 1 && $0.pages > 1 ? $0.pages : nil }
        return info
    }
}

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

/// Which facts of an image are wanted, and how fine.
public struct WantedFacts: Hashable, Sendable {
    /// Which ones; none: those that every image has, which are in `ImageInfo`.
    public var kinds: FactKinds
    /// Components of the BlurHash in each direction, each from 1 to 9.
    public var blurHash: PixelSize

    /// Takes any numbers; those beyond the limits are refused with the request.
    public init(_ kinds: FactKinds = [], blurHash: PixelSize = Self.usualBlurHash) {
        (self.kinds, self.blurHash) = (kinds, blurHash)
    }

    /// 4 by 3, which its authors name as usual.
    public static let usualBlurHash = PixelSize(width: 4, height: 3)

    /// Components of a BlurHash in one direction.
    package static let blurHashSides = 1...9

    /// What `init` takes, for help and errors.
    package static let expected =
        "some of \(FactKinds.names.joined(separator: ", ")), with commas between them; "
        + "blurhash:5x4 says its components, each side from 1 to 9"

    /// Words with commas between them, such as `exif,blurhash:5x4`; `nil` for anything else.
    public init?(_ text: String) {
        self.init()
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = word.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let kind = FactKinds.words.first(where: { $0.name == parts[0] })?.kind else {
                return nil
            }
            kinds.insert(kind)
            guard parts.count > 1 else { continue }
            guard kind == .blurHash, let size = PixelSize(String(parts[1])) else { return nil }
            blurHash = size
        }
        guard isValid else { return nil }
    }

    /// Whether this version knows all of it.
    var isValid: Bool {
        kinds.isSubset(of: .known) && Self.blurHashSides.contains(blurHash.width)
            && Self.blurHashSides.contains(blurHash.height)
    }

    /// Whether pixels are decoded for them.
    package var needPixels: Bool { !kinds.isDisjoint(with: .ofPixels) }

    /// Throws where a request may not ask for them.
    package func check() throws(ImageError) {
        guard isValid else {
            throw ImageError(.invalidRequest, "facts: expected \(Self.expected)")
        }
    }
}

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

/// What of EXIF is told, by its name on the wire and in JSON. Each value is a text; numbers are
/// decimal, with a point.
public enum ExifField: String, Hashable, Sendable, CaseIterable {
    /// Who made the camera.
    case make
    /// Which camera.
    case model
    /// Which lens.
    case lens
    /// When the image was taken, as the camera wrote it: `2022:07:04 21:17:16`.
    case dateTaken
    /// How long, in seconds.
    case exposureSeconds
    /// The number of the aperture: 5.6 for f/5.6.
    case aperture
    /// The sensitivity, by ISO.
    case iso
    /// The focal length.
    case focalLengthMillimetres
    /// Who took it.
    case artist
    /// Whose it is.
    case copyright
    /// Degrees to the north, negative to the south.
    case latitude
    /// Degrees to the east, negative to the west.
    case longitude
    /// Metres above the sea, negative below.
    case altitudeMetres

    /// Bytes of a value at most; a longer text is cut off between two characters.
    public static let valueBytesMax = 128

    /// With which facts it comes.
    package var kind: FactKinds {
        switch self {
        case .latitude, .longitude, .altitudeMetres: .gps
        default: .exif
        }
    }
}

/// How the frames of an animation are shown (SEMANTICS §11.30).
public struct AnimationFacts: Hashable, Sendable {
    /// How long each frame is shown, in microseconds; of more frames than `framesMax`, the first
    /// ones.
    public var durations: [UInt32]
    /// SDWebImage's loop count; 0: without end. Of a GIF it is the number in the file, which counts
    /// repetitions: a GIF with 2 is played three times.
    public var loops: Int
    /// How often all frames are played; 0: without end.
    public var plays: Int

    /// Takes any numbers.
    ///
    /// - Parameter plays: `nil`: as often as `loops` says.
    public init(durations: [UInt32], loops: Int, plays: Int? = nil) {
        (self.durations, self.loops, self.plays) = (durations, loops, plays ?? loops)
    }

    /// Frames whose durations are told at most.
    public static let framesMax = 16_384
}
