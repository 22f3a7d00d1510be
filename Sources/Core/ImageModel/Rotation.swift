/// A rotation about the centre.
public struct Rotation: Hashable, Sendable {
    /// Radians, positive is counter-clockwise (SEMANTICS §11.10).
    public var radians: Double
    /// Whether the canvas grows to hold the whole turned image.
    public var fitsSize: Bool

    /// A rotation in upstream's sense.
    public init(radians: Double, fitsSize: Bool) {
        self.radians = radians
        self.fitsSize = fitsSize
    }

    /// A rotation in degrees clockwise, as the command line has it; the canvas grows.
    public init(degreesClockwise degrees: Double) {
        self.init(radians: -degrees * .pi / 180, fitsSize: true)
    }

    /// 0 to 3 turns of 90° clockwise where the angle is one (within a thousandth of a degree);
    /// `nil` for every other angle.
    public var quarterTurnsClockwise: Int? {
        let turns = -radians * 2 / .pi
        let nearest = turns.rounded()
        guard abs(turns - nearest) < 1e-5, abs(nearest) < 1e9 else { return nil }
        return ((Int(nearest) % 4) + 4) % 4
    }

    /// Radians at most, in both directions: a thousand turns.
    package static let radiansMax = 6_284.0

    /// The size of the canvas after it; `nil` for an angle beyond the limit.
    package func size(of source: PixelSize) -> PixelSize? {
        guard abs(radians) <= Self.radiansMax else { return nil }
        if let turns = quarterTurnsClockwise {
            return fitsSize && turns % 2 == 1 ? source.transposed : source
        }
        guard fitsSize else { return source }
        let (sine, cosine) = UnitCircle.sineAndCosine(radians)
        let (across, down) = (abs(cosine), abs(sine))
        let (width, height) = (Double(source.width), Double(source.height))
        // A side that is whole but for the rounding of the sum is no pixel longer.
        return PixelSize(
            width: Int((width * across + height * down - 1e-6).rounded(.up)),
            height: Int((width * down + height * across - 1e-6).rounded(.up)))
    }
}
