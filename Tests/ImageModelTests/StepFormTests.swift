import ImageModel
import Testing

@Suite struct StepFormTests {
    private static let box = PixelSize(width: 40, height: 30)

    /// One of each.
    private static let steps: [TransformStep] = [
        .resize(box, .fit), .crop(PixelRect(x: 0, y: 0, size: box)),
        .rotate(Rotation(degreesClockwise: 90)), .flip(horizontal: true, vertical: false),
        .overlay(Overlay(url: "http://h/m.png")), .custom(CustomStep("acme.denoise")),
    ]

    @Test func eachStepIsWrittenInOneWay() {
        let names = TransformStep.syntaxes.map(\.name)
        #expect(names == ["crop", "rotate", "flip", "overlay", "custom"])
        // A mode stands beside a resize, and the name of a custom step in its value.
        let named = Set(Self.steps.map(\.name)).subtracting(["resize", "acme.denoise"])
        #expect(named == Set(names).subtracting(["custom"]))
        for syntax in TransformStep.syntaxes {
            #expect(!syntax.help.isEmpty)
            #expect(syntax.parse("\u{1}") == nil)
        }
    }

    @Test func stepsSayWhatTheyAskOfTheSource() {
        #expect(
            Self.steps.map(\.form.demand) == [
                .box(Self.box, .fit), .everything, .transposition, .nothing, .everything,
                .everything,
            ])
    }

    @Test func nothingIsMadeOfWhatHasNoSize() {
        for step in Self.steps {
            #expect(step.size(after: PixelSize(width: 0, height: 4)) == nil)
            #expect(step.size(after: PixelSize(width: 1 << 40, height: 4)) == nil)
            #expect(step.size(after: Self.box) != nil)
        }
    }
}
