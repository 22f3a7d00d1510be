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
