/// An image that is laid over another one; where it reaches beyond that, it is cut off.
public struct Overlay: Hashable, Sendable {
    /// Where it is, percent-encoded as that of a request. Empty in jobs: who lays it over is given
    /// its pixels.
    public let url: String
    /// Columns from the left edge to its left edge; negative: from its right edge to the right one.
    /// With a gravity: columns that it is moved, to the left where the gravity is right of the
    /// middle.
    public let x: Int
    /// Rows from the top edge to its top edge; negative: from its bottom edge to the bottom one.
    /// With a gravity: rows that it is moved, up where the gravity is below the middle.
    public let y: Int
    /// How much of it is seen, 0 to 1, in thousandths: what it is multiplied with where it is
    /// opaque.
    public let opacity: Double
    /// Where it is, if it is not where `x` and `y` alone say: a place of the image.
    public let gravity: Gravity?
    /// A box in pixels or in hundredths of the image, which it fills as far as its ratio permits,
    /// enlarged too; `nil`: it has its own size.
    public let size: RelativeSize?
    /// Whether it is laid side by side in both directions, all over the image.
    public let repeats: Bool
    /// How its pixels and those below are put together.
    public let mode: BlendMode

    /// At the top left corner, as it is, unless something else is said. What is no number is no
    /// opacity: NaN, and what is too large for thousandths, stays as it is and is refused.
    public init(
        url: String, x: Int = 0, y: Int = 0, opacity: Double = 1, gravity: Gravity? = nil,
        size: RelativeSize? = nil, repeats: Bool = false, mode: BlendMode = .normal
    ) {
        self.url = SourceURL.percentEncodingNonASCII(url)
        (self.x, self.y) = (x, y)
        let thousandths = (opacity * 1_000).rounded()
        self.opacity = thousandths.isInfinite ? opacity : thousandths / 1_000
        (self.gravity, self.size) = (gravity, size)
        (self.repeats, self.mode) = (repeats, mode)
    }

    /// Where and how it is laid, without what it is.
    public var placed: Overlay {
        Overlay(
            url: "", x: x, y: y, opacity: opacity, gravity: gravity, size: size, repeats: repeats,
            mode: mode)
    }

    /// Where its top left corner is on an image.
    public func origin(of size: PixelSize, on base: PixelSize) -> (x: Int, y: Int) {
        if let gravity, let origin = gravity.origin(of: size, on: base) {
            return (
                origin.x + (gravity.isRight ? -x : x), origin.y + (gravity.isLow ? -y : y)
            )
        }
        return (
            x < 0 ? base.width - size.width + x : x,
            y < 0 ? base.height - size.height + y : y
        )
    }

    /// The size in which it is laid over an image; `own` is its own.
    public func laidSize(of own: PixelSize, on base: PixelSize) -> PixelSize {
        guard let size else { return own }
        return ResizeGeometry(
            source: own, box: size.resolved(in: base), mode: .fit, enlarges: true
        ).scaled
    }

    /// The transformer key, in which the overlay has the name of its original.
    func key(named name: String) -> String {
        "ImagebusOverlayTransformer(\(Self.escaped(name)),{\(x).000000,\(y).000000},"
            + "\(decimalText(opacity))\(keyOfManner))"
    }

    /// What is said besides, and nothing where nothing is.
    private var keyOfManner: String {
        let words = [
            gravity?.description, size.map { "{\($0)}" }, repeats ? Self.repeatWord : nil,
            mode == .normal ? nil : mode.name,
        ]
        return words.compactMap { $0.map { ",\($0)" } }.joined()
    }

    /// The word for `repeats`.
    static let repeatWord = "repeat"

    /// So that nothing in a name can be taken for a part of the key around it.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ImageRequest {
    /// What is laid over the image, in the order of its steps.
    public var overlays: [Overlay] { steps.compactMap(\.overlay) }

    /// The load of one of its overlays: the original of another URL, from and into the tiers of
    /// originals, in the same class and on the same wishes. It has nothing that was said to the
    /// origin of the image, is not kept as that is, since others lay it over theirs, and is not
    /// refreshed by itself: a request that is, loads it anew.
    public func loading(overlay: Overlay) -> ImageRequest {
        var image = self
        image.url = overlay.url
        image.headers = []
        image.thumbnail = nil
        image.steps = []
        image.output = OutputOptions()
        image.infoOnly = false
        image.facts = WantedFacts()
        image.context.key = nil
        image.context.fallback = nil
        image.context.serializer = nil
        image.options.subtract([.refreshCached, .respectCacheControl, .decodeFirstFrameOnly])
        return image
    }

    /// The loads of its overlays, without a configuration.
    public var preparedOverlays: [Resolution] {
        overlays.map { Resolution(loading(overlay: $0)) }
    }
}

extension TransformStep {
    /// What is laid over, if that is the step.
    public var overlay: Overlay? {
        if case .overlay(let overlay) = self { return overlay }
        return nil
    }

    /// The step for who does it, without the URL of what is laid over.
    public var forJobs: TransformStep { overlay.map { .overlay($0.placed) } ?? self }
}
