/// What of the source a result needs at least; the decoder chooses its reduction from it.
public enum DecodeNeed: Hashable, Sendable {
    /// Header facts only.
    case header
    /// Every pixel.
    case full
    /// Enough to cover a resize to a box without enlarging what was thrown away. The box counts
    /// in the displayed orientation.
    case cover(PixelSize, ResizeMode)
    /// Enough to scale it down, its ratio kept, to so many pixels.
    case area(Int)

    /// What the first step asks that asks for something; steps before it may exchange columns and
    /// rows. Without such a step all pixels are needed.
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
                // What lies across and is square at once says after a turn something else.
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

    /// The size at which a decoder makes pixels of a source (displayed size), which has more where
    /// its format can be reduced. Where it makes none, the size of the source.
    package func decodedSize(of source: ImageInfo) -> PixelSize {
        scale(for: source.size, of: source.format.traits.input?.scales ?? .whole).size(source.size)
    }

    /// Whether a reduction to it leaves a file as it is.
    package func leaves(_ file: ImageInfo) -> Bool {
        if file.format.traits.isDrawn { return leavesDrawings }
        return wantedSize(of: file.size).map { $0 == file.size } ?? true
    }

    /// The same of a drawing, which has no pixels that could be too many, and is drawn as large as
    /// a box.
    package var leavesDrawings: Bool {
        if case .cover = self { false } else { true }
    }

    /// What steps take the pixels of a source for. What is drawn has no pixels of its own: it is as
    /// large as it was drawn. Everything else is as large as its source, however it was reduced.
    package func info(ofPixels source: ImageInfo) -> ImageInfo {
        guard source.format.traits.isDrawn else { return source }
        var info = source
        info.size = decodedSize(of: source)
        return info
    }

    /// The largest of the `permitted` reductions after which `source` (displayed size) still has
    /// as many columns and rows as the result; a reduced side counts as `ceil(side / shrink)`.
    /// 1 where nothing larger does.
    public func shrink(for source: PixelSize, permitted: [Int]) -> Int {
        guard let wanted = wantedSize(of: source) else { return 1 }
        let covering = permitted.filter { shrink in
            shrink >= 1 && (source.width + shrink - 1) / shrink >= min(wanted.width, source.width)
                && (source.height + shrink - 1) / shrink >= min(wanted.height, source.height)
        }
        return covering.max() ?? 1
    }

    /// What the first resampling makes of an image of that size; `nil` where every pixel is needed,
    /// or none.
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

/// By how much a decoder makes each side of an image other than it is stored: an exact fraction, 1
/// for every pixel as it is.
package struct DecodeScale: Hashable, Sendable, Comparable {
    /// At least 1, in lowest terms.
    package let numerator: Int
    /// At least 1, in lowest terms.
    package let denominator: Int
    /// Whether half a pixel counts as one, as in the geometry of steps, and less as none. Else any
    /// part of a pixel counts as one, as decoders have it that leave pixels away.
    package let rounds: Bool

    /// Every pixel.
    package static let whole = DecodeScale(1, over: 1)

    /// A fraction of two numbers from 1 to 2³¹ − 1, so that products do not overflow.
    package init(_ numerator: Int, over denominator: Int, rounds: Bool = false) {
        let numbers = 1...Int(Int32.max)
        precondition(
            numbers.contains(numerator) && numbers.contains(denominator),
            "a scale is a fraction of positive numbers")
        var (divisor, rest) = (numerator, denominator)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
        self.rounds = rounds
    }

    /// The number next to it.
    package var value: Double { Double(numerator) / Double(denominator) }

    /// What it makes of a side from 1 to 2³¹ − 1: at least 1.
    package func side(_ side: Int) -> Int {
        let part = rounds ? denominator / 2 : denominator - 1
        return max(1, (side * numerator + part) / denominator)
    }

    /// What it makes of an image.
    package func size(_ size: PixelSize) -> PixelSize {
        PixelSize(width: side(size.width), height: side(size.height))
    }

    package static func < (left: DecodeScale, right: DecodeScale) -> Bool {
        left.numerator * right.denominator < right.numerator * left.denominator
    }
}

/// The scales at which a decoder makes pixels.
package enum DecodeScales: Hashable, Sendable {
    /// Only that of the file.
    case whole
    /// One part in so many, 1 among them.
    case parts([Int])
    /// Every scale, larger ones too: what is drawn has no pixels of its own.
    case any
}

extension DecodeNeed {
    /// The smallest of the `permitted` scales at which `source` (displayed size, sides up to
    /// 2³¹ − 1) has as many columns and rows as the need asks for, and at least one of each.
    package func scale(for source: PixelSize, of permitted: DecodeScales) -> DecodeScale {
        switch permitted {
        case .whole: return .whole
        case .parts(let parts):
            let side = min(source.width, source.height)
            return DecodeScale(1, over: shrink(for: source, permitted: parts.filter { $0 <= side }))
        case .any: return exactScale(for: source)
        }
    }

    /// A mode that does not enlarge spares pixels that were never there: a drawing has as many as
    /// are asked for. Where its ratio is kept it has exactly the size that is wanted, so that a
    /// drawing is as large as a photo would be.
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
