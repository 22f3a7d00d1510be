/// The operation that brings stored pixels into display orientation, as a transposition followed by
/// mirroring: the eight values of EXIF tag 0x0112 (TIFF 6.0), and all combinations of flips and
/// quarter turns.
public struct Orientation: Hashable, Sendable {
    /// Whether columns and rows are swapped first.
    public var transposes: Bool
    /// Whether left and right are swapped, after transposing.
    public var mirrorsHorizontally: Bool
    /// Whether top and bottom are swapped, after transposing.
    public var mirrorsVertically: Bool

    /// The identity.
    public static let upright = Orientation(exif: 1)

    /// - Parameter exif: the tag, 1 to 8; other numbers are treated as 1.
    public init(exif: Int) {
        transposes = (5...8).contains(exif)
        mirrorsHorizontally = [2, 3, 6, 7].contains(exif)
        mirrorsVertically = [3, 4, 7, 8].contains(exif)
    }

    /// The equivalent tag, 1 to 8.
    public var exif: Int {
        switch (transposes, mirrorsHorizontally, mirrorsVertically) {
        case (false, false, false): 1
        case (false, true, false): 2
        case (false, true, true): 3
        case (false, false, true): 4
        case (true, false, false): 5
        case (true, true, false): 6
        case (true, true, true): 7
        case (true, false, true): 8
        }
    }

    /// Whether this is the identity.
    public var isUpright: Bool { self == .upright }

    /// Returns the size after this operation: sides are swapped if it transposes.
    public func displayed(_ stored: PixelSize) -> PixelSize {
        transposes ? stored.transposed : stored
    }

    /// Returns the size before this operation: sides are swapped if it transposes.
    public func stored(_ displayed: PixelSize) -> PixelSize {
        transposes ? displayed.transposed : displayed
    }

    /// Returns this operation followed by mirroring the displayed image.
    public func flipped(horizontally: Bool, vertically: Bool) -> Orientation {
        var other = self
        other.mirrorsHorizontally = mirrorsHorizontally != horizontally
        other.mirrorsVertically = mirrorsVertically != vertically
        return other
    }

    /// Returns this operation followed by a clockwise rotation of the displayed image by 0 to 3
    /// quarter turns.
    public func turned(quarters: Int) -> Orientation {
        var other = self
        for _ in 0..<quarters {
            // A quarter turn is a transposition, then a horizontal mirroring; transposing swaps the
            // axes of earlier mirroring.
            other.transposes.toggle()
            (other.mirrorsHorizontally, other.mirrorsVertically) = (
                !other.mirrorsVertically, other.mirrorsHorizontally
            )
        }
        return other
    }
}

/// A rotation about the center.
public struct Rotation: Hashable, Sendable {
    /// Radians, positive is counter-clockwise (SEMANTICS §11.10).
    public var radians: Double
    /// Whether the canvas grows to fit the whole rotated image.
    public var fitsSize: Bool

    /// Creates a rotation with SDWebImage's sign convention.
    public init(radians: Double, fitsSize: Bool) {
        self.radians = radians
        self.fitsSize = fitsSize
    }

    /// Creates a rotation in degrees clockwise, as on the command line; the canvas grows.
    public init(degreesClockwise degrees: Double) {
        self.init(radians: -degrees * .pi / 180, fitsSize: true)
    }

    /// The number of clockwise quarter turns, 0 to 3, if the angle is a multiple of 90° (within a
    /// thousandth of a degree); otherwise `nil`.
    public var quarterTurnsClockwise: Int? {
        let turns = -radians * 2 / .pi
        let nearest = turns.rounded()
        guard abs(turns - nearest) < 1e-5, abs(nearest) < 1e9 else { return nil }
        return ((Int(nearest) % 4) + 4) % 4
    }

    /// The maximum angle in radians in both directions: a thousand turns.
    package static let radiansMax = 6_284.0

    /// Returns the size of the rotated canvas; `nil` if the angle is out of range.
    package func size(of source: PixelSize) -> PixelSize? {
        guard abs(radians) <= Self.radiansMax else { return nil }
        if let turns = quarterTurnsClockwise {
            return fitsSize && turns % 2 == 1 ? source.transposed : source
        }
        guard fitsSize else { return source }
        let (sine, cosine) = UnitCircle.sineAndCosine(radians)
        let (across, down) = (abs(cosine), abs(sine))
        let (width, height) = (Double(source.width), Double(source.height))
        // A length that is an integer except for rounding errors is not rounded up.
        return PixelSize(
            width: Int((width * across + height * down - 1e-6).rounded(.up)),
            height: Int((width * down + height * across - 1e-6).rounded(.up)))
    }
}

/// Sine and cosine for modules without C: a Taylor series within an eighth of a turn, where sixteen
/// terms are exact to the last bits.
enum UnitCircle {
    /// Returns sine and cosine of an angle in radians of moderate size.
    static func sineAndCosine(_ radians: Double) -> (sine: Double, cosine: Double) {
        let quarters = (radians * 2 / .pi).rounded()
        let rest = radians - quarters * .pi / 2
        let sine = series(rest, from: rest, 1)
        let cosine = series(rest, from: 1, 0)
        switch Int(quarters) & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// Returns the sum of every second power divided by its factorial, with alternating signs,
    /// beginning with `first` of the given exponent.
    private static func series(_ x: Double, from first: Double, _ exponent: Int) -> Double {
        var (term, sum) = (first, first)
        for step in stride(from: exponent + 1, to: exponent + 31, by: 2) {
            term *= -x * x / Double(step * (step + 1))
            sum += term
        }
        return sum
    }
}

/// Rotates the image about its center.
package struct RotateStep: StepForm {
    package let rotation: Rotation

    package var name: String { "rotate" }

    package var key: String {
        "SDImageRotationTransformer(\(decimalText(rotation.radians)),"
            + "\(rotation.fitsSize ? 1 : 0))"
    }

    /// Quarter turns keep every pixel.
    package var demand: StepDemand {
        guard let turns = rotation.quarterTurnsClockwise else { return .everything }
        return turns % 2 == 1 ? .transposition : .nothing
    }

    /// Other angles interpolate 8-bit samples.
    package var takesDepth: Bool { rotation.quarterTurnsClockwise != nil }

    package func size(after source: PixelSize) -> PixelSize? { rotation.size(of: source) }

    package func check(pixelsMax: Int) throws(ImageError) {
        guard abs(rotation.radians) <= Rotation.radiansMax else {
            throw ImageError(
                .invalidRequest,
                "rotate: the angle must be at most \(Int(Rotation.radiansMax)) radians"
            ) { $0.step = name }
        }
    }

    static let syntax = StepSyntax(
        "rotate", value: "DEG",
        expected: "degrees clockwise, such as 90 or -12.5"
    ) { text in
        guard let degrees = PlainNumber.decimal(text), abs(degrees) <= 360_000 else { return nil }
        return .rotate(Rotation(degreesClockwise: degrees))
    }
}

/// Mirrors the image.
package struct FlipStep: StepForm {
    package let horizontal: Bool
    package let vertical: Bool

    package var name: String { "flip" }

    package var key: String {
        "SDImageFlippingTransformer(\(horizontal ? 1 : 0),\(vertical ? 1 : 0))"
    }

    package var takesDepth: Bool { true }

    static let syntax = StepSyntax(
        "flip", value: "h|v|hv", expected: "h, v or hv"
    ) { text in
        switch text {
        case "h": .flip(horizontal: true, vertical: false)
        case "v": .flip(horizontal: false, vertical: true)
        case "hv": .flip(horizontal: true, vertical: true)
        default: nil
        }
    }
}
