/// A rotation about the centre.
package struct RotateStep: StepForm {
    package let rotation: Rotation

    package var name: String { "rotate" }

    package var key: String {
        "SDImageRotationTransformer(\(decimalText(rotation.radians)),"
            + "\(rotation.fitsSize ? 1 : 0))"
    }

    /// Quarters of a turn keep every pixel.
    package var demand: StepDemand {
        guard let turns = rotation.quarterTurnsClockwise else { return .everything }
        return turns % 2 == 1 ? .transposition : .nothing
    }

    package func size(after source: PixelSize) -> PixelSize? {
        guard let turns = rotation.quarterTurnsClockwise else { return nil }
        return rotation.fitsSize && turns % 2 == 1 ? source.transposed : source
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        demand == .transposition ? source?.transposed : source
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        guard rotation.quarterTurnsClockwise != nil else {
            throw ImageError(.invalidRequest, "this version turns by 90, 180 or 270 degrees")
        }
    }

    static let syntax = StepSyntax(
        "rotate", value: "DEG", "turn clockwise, by a multiple of 90 (repeatable)",
        expected: "degrees clockwise, such as 90 or -12.5"
    ) { text in
        guard let degrees = PlainNumber.decimal(text), abs(degrees) <= 360_000 else { return nil }
        return .rotate(Rotation(degreesClockwise: degrees))
    }
}
