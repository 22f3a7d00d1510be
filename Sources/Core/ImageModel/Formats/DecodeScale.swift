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
