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
}
