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

    /// Other angles mix pixels in 8 bits.
    package var takesDepth: Bool { rotation.quarterTurnsClockwise != nil }

    package func size(after source: PixelSize) -> PixelSize? { rotation.size(of: source) }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { rotation.size(of: $0) ?? $0 }
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        guard abs(rotation.radians) <= Rotation.radiansMax else {
            throw ImageError(
                .invalidRequest, "rotate: at most \(Int(Rotation.radiansMax)) radians",
                details: ["step": name])
        }
    }

    static let syntax = StepSyntax(
        "rotate", value: "DEG",
        "turn clockwise; beside multiples of 90 the corners are transparent\n(repeatable)",
        expected: "degrees clockwise, such as 90 or -12.5"
    ) { text in
        guard let degrees = PlainNumber.decimal(text), abs(degrees) <= 360_000 else { return nil }
        return .rotate(Rotation(degreesClockwise: degrees))
    }
}
