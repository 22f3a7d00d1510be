/// A mirroring.
package struct FlipStep: StepForm {
    package let horizontal: Bool
    package let vertical: Bool

    package var name: String { "flip" }

    package var key: String {
        "SDImageFlippingTransformer(\(horizontal ? 1 : 0),\(vertical ? 1 : 0))"
    }

    package var takesDepth: Bool { true }

    static let syntax = StepSyntax(
        "flip", value: "h|v|hv", "mirror (repeatable)", expected: "h, v or hv"
    ) { text in
        switch text {
        case "h": .flip(horizontal: true, vertical: false)
        case "v": .flip(horizontal: false, vertical: true)
        case "hv": .flip(horizontal: true, vertical: true)
        default: nil
        }
    }
}
