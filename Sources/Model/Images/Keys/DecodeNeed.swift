/// The minimum that a result needs from its source, from which the decoder chooses its downscaling.
public enum DecodeNeed: Hashable, Sendable {
    /// Only the properties in the header.
    case header
    /// Every pixel.
    case full
    /// Enough to resize to a box without upscaling what was decoded. The box is in display
    /// orientation.
    case cover(PixelSize, ResizeMode)
    /// Enough to scale down to this number of pixels, with the aspect ratio preserved.
    case area(Int)

    /// The need of the first step that has one; steps before it may swap columns and rows. Without
    /// such a step all pixels are needed.
    public init(_ request: ImageRequest) {
        guard !request.infoOnly, request.needsPixels else {
            self = .header
            return
        }
        var turned = false
        for step in request.allSteps {
            switch step.form.demand {
            case .nothing: continue
            case .transposition: turned.toggle()
            case .box(let box, let mode):
                // `auto` depends on the orientation, which a rotation before it changes.
                let mode = turned && mode == .auto ? .cover : mode
                self = .cover(turned ? box.transposed : box, mode)
                return
            case .area(let pixels):
                self = .area(pixels)
                return
            case .everything:
                self = .full
                return
            }
        }
        self = .full
    }

    /// Returns the size (in display orientation) at which a decoder produces the pixels of a
    /// source, smaller than the source if its format supports downscaling. If no pixels are
    /// produced, the size of the source.
    package func decodedSize(of source: ImageInfo) -> PixelSize {
        scale(for: source.size, of: source.format.traits.input?.scales ?? .whole).size(source.size)
    }

    /// Returns whether resizing to this need leaves the file unchanged.
    package func leaves(_ file: ImageInfo) -> Bool {
        if file.format.traits.isDrawn { return leavesDrawings }
        return wantedSize(of: file.size).map { $0 == file.size } ?? true
    }

    /// The same for a vector drawing, which has no fixed number of pixels and is rendered at the
    /// size of a box.
    package var leavesDrawings: Bool {
        if case .cover = self { false } else { true }
    }

    /// Returns the properties of a source as steps see them. A vector drawing has the size at which
    /// it was rendered. Everything else has the size of its source, however it was downscaled.
    package func info(ofPixels source: ImageInfo) -> ImageInfo {
        guard source.format.traits.isDrawn else { return source }
        var info = source
        info.size = decodedSize(of: source)
        return info
    }

    /// Returns the largest of the `permitted` shrink factors after which `source` (in display
    /// orientation) still has as many columns and rows as the result; a shrunk side is `ceil(side /
    /// shrink)`. Returns 1 if none is sufficient.
    public func shrink(for source: PixelSize, permitted: [Int]) -> Int {
        guard let wanted = wantedSize(of: source) else { return 1 }
        let covering = permitted.filter { shrink in
            shrink >= 1 && (source.width + shrink - 1) / shrink >= min(wanted.width, source.width)
                && (source.height + shrink - 1) / shrink >= min(wanted.height, source.height)
        }
        return covering.max() ?? 1
    }

    /// Returns the size that the first resampling produces from an image of that size; `nil` if
    /// every pixel is needed, or none.
    func wantedSize(of source: PixelSize) -> PixelSize? {
        switch self {
        case .header, .full: nil
        case .cover(let box, let mode):
            ResizeGeometry(source: source, box: box, mode: mode).scaled
        case .area(let pixels):
            ResizeGeometry(source: source, box: source.box(ofPixels: pixels), mode: .fit).scaled
        }
    }
}

/// The scale of decoded relative to stored pixels: an exact fraction, 1 for full resolution.
package struct DecodeScale: Hashable, Sendable, Comparable {
    /// At least 1, in lowest terms.
    package let numerator: Int
    /// At least 1, in lowest terms.
    package let denominator: Int
    /// Whether half a pixel is rounded up, as in the geometry of steps, and less is dropped.
    /// Otherwise any partial pixel counts, as in decoders that skip pixels.
    package let rounds: Bool

    /// Full resolution.
    package static let whole = DecodeScale(1, over: 1)

    /// Creates a fraction of two numbers from 1 to 2³¹ − 1, so that products do not overflow.
    package init(_ numerator: Int, over denominator: Int, rounds: Bool = false) {
        let numbers = 1...Int(Int32.max)
        precondition(
            numbers.contains(numerator) && numbers.contains(denominator),
            "a scale must be a fraction of positive numbers")
        var (divisor, rest) = (numerator, denominator)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
        self.rounds = rounds
    }

    /// The closest floating-point number.
    package var value: Double { Double(numerator) / Double(denominator) }

    /// Returns the scaled length of a side from 1 to 2³¹ − 1: at least 1.
    package func side(_ side: Int) -> Int {
        let part = rounds ? denominator / 2 : denominator - 1
        return max(1, (side * numerator + part) / denominator)
    }

    /// Returns the scaled size of an image.
    package func size(_ size: PixelSize) -> PixelSize {
        PixelSize(width: side(size.width), height: side(size.height))
    }

    package static func < (left: DecodeScale, right: DecodeScale) -> Bool {
        left.numerator * right.denominator < right.numerator * left.denominator
    }
}

/// The scales that a decoder supports.
package enum DecodeScales: Hashable, Sendable {
    /// Only full resolution.
    case whole
    /// Fractions 1/n, including 1.
    case parts([Int])
    /// Any scale, including upscaling, because vector drawings have no pixels of their own.
    case any
}

extension DecodeNeed {
    /// Returns the smallest of the `permitted` scales at which `source` (in display orientation,
    /// sides up to 2³¹ − 1) has as many columns and rows as needed, and at least one of each.
    package func scale(for source: PixelSize, of permitted: DecodeScales) -> DecodeScale {
        switch permitted {
        case .whole: return .whole
        case .parts(let parts):
            let side = min(source.width, source.height)
            return DecodeScale(1, over: shrink(for: source, permitted: parts.filter { $0 <= side }))
        case .any: return exactScale(for: source)
        }
    }

    /// Modes that don't enlarge exist to avoid interpolated pixels, but a drawing can be rendered
    /// at any size, so it is enlarged. If the aspect ratio is preserved, a drawing has exactly the
    /// wanted size, as a photo would.
    private func exactScale(for source: PixelSize) -> DecodeScale {
        let wanted: PixelSize
        if case .cover(let box, let mode) = self {
            wanted = ResizeGeometry(source: source, box: box, mode: mode, enlarges: true).scaled
        } else {
            guard let size = wantedSize(of: source) else { return .whole }
            wanted = size
        }
        let most = Int(Int32.max)
        let across = DecodeScale(min(wanted.width, most), over: source.width, rounds: true)
        let down = DecodeScale(min(wanted.height, most), over: source.height, rounds: true)
        return [across, down].first { $0.size(source) == wanted } ?? max(across, down)
    }
}
