/// What a resize by name says.
extension StepValue {
    /// A box in pixels or hundredths of the image, larger ones too; 0 is open.
    static func relativeBox(
        _ path: any WritableKeyPath<Step, RelativeSize> & Sendable
    ) -> StepValue {
        StepValue(
            "size", path,
            expected: "WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) pixels or above 0 "
                + "and at most 10000%, or one of them 0",
            isOptional: false, { RelativeSize($0) }, \.description, isPermitted: \.isPermittedBox)
    }

    static func resizeMode(_ path: any WritableKeyPath<Step, ResizeMode> & Sendable) -> StepValue {
        StepValue(
            "mode", path,
            expected: "one of " + ResizeMode.named.map(\.name).joined(separator: ", "),
            isOptional: true, { ResizeMode(name: $0) }, \.name, isPermitted: { _ in true })
    }

    /// Whether smaller images become larger; nothing where the mode says it.
    static func enlarge(_ path: any WritableKeyPath<Step, Bool?> & Sendable) -> StepValue {
        StepValue(
            "enlarge", path, expected: "enlarge or no-enlarge", isOptional: true,
            { text in
                switch text {
                case "enlarge": .some(true)
                case "no-enlarge": .some(false)
                default: nil
                }
            }, { $0.map { $0 ? "enlarge" : "no-enlarge" } }, isPermitted: { _ in true })
    }

    /// A size that may be 0 in each direction, and is not said where it is so in both.
    static func least(_ path: any WritableKeyPath<Step, PixelSize> & Sendable) -> StepValue {
        let sides = 0...RequestLimits.sideMax
        return StepValue(
            "least", path,
            expected: "WIDTHxHEIGHT, each from 0 to \(RequestLimits.sideMax) pixels",
            isOptional: true,
            { text in
                guard let pixels = RelativeSize(text)?.pixels else { return nil }
                return pixels
            }, { $0 == PixelSize(width: 0, height: 0) ? nil : $0.description },
            isPermitted: { sides.contains($0.width) && sides.contains($0.height) })
    }
}
