/// A value of a step: its name on the wire and in errors, its syntax and its valid range.
package struct StepValue<Step: ValuedStep>: Sendable {
    let name: String
    /// The description of valid values in errors.
    let expected: String
    /// Whether the value may be omitted, with the default from `blank`.
    let isOptional: Bool
    /// Parses a value into the step; returns false and leaves the step unchanged if the text is of
    /// the wrong type.
    let read: @Sendable (inout Step, String) -> Bool
    /// The text of the value; `nil` if it is omitted.
    let text: @Sendable (Step) -> String?
    let isPermitted: @Sendable (Step) -> Bool

    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Step, Value> & Sendable, expected: String,
        isOptional: Bool, _ read: @escaping @Sendable (String) -> Value?,
        _ text: @escaping @Sendable (Value) -> String?,
        isPermitted: @escaping @Sendable (Value) -> Bool
    ) {
        (self.name, self.expected, self.isOptional) = (name, expected, isOptional)
        self.read = { step, text in
            guard let value = read(text) else { return false }
            step[keyPath: path] = value
            return true
        }
        self.text = { text($0[keyPath: path]) }
        self.isPermitted = { isPermitted($0[keyPath: path]) }
    }
}

extension StepValue {
    static func number(
        _ name: String, _ path: any WritableKeyPath<Step, Double> & Sendable,
        in range: ClosedRange<Double>, isOptional: Bool = false
    ) -> StepValue {
        StepValue(
            name, path,
            expected: "a number from \(plainText(range.lowerBound)) to "
                + plainText(range.upperBound),
            isOptional: isOptional, { PlainNumber.decimal($0) }, { "\($0)" },
            isPermitted: range.contains)
    }

    static func count(
        _ name: String, _ path: any WritableKeyPath<Step, Int> & Sendable,
        in range: ClosedRange<Int>
    ) -> StepValue {
        StepValue(
            name, path,
            expected: "an integer from \(range.lowerBound) to \(range.upperBound)",
            isOptional: false, { PlainNumber.integer($0) }, { "\($0)" },
            isPermitted: range.contains)
    }

    /// A size in pixels; the step validates it.
    static func size(_ path: any WritableKeyPath<Step, PixelSize> & Sendable) -> StepValue {
        StepValue(
            "size", path, expected: "WIDTHxHEIGHT in pixels", isOptional: false,
            { PixelSize($0) }, \.description, isPermitted: { _ in true })
    }

    /// A size in pixels or percent of the image.
    static func extent(_ path: any WritableKeyPath<Step, RelativeSize> & Sendable) -> StepValue {
        StepValue(
            "size", path,
            expected: "WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) pixels, or above 0 "
                + "and at most 100%",
            isOptional: false, { RelativeSize($0) }, \.description, isPermitted: \.isPermitted)
    }

    static func gravity(_ path: any WritableKeyPath<Step, Gravity> & Sendable) -> StepValue {
        StepValue(
            "gravity", path,
            expected: "a position such as north, with an optional offset of at most "
                + "\(RequestLimits.sideMax) pixels or 100%, fp:X:Y with numbers from 0 to 1, or "
                + "px:X:Y with numbers from 0 to \(RequestLimits.sideMax)",
            isOptional: true, { Gravity($0) }, \.description, isPermitted: \.isPermitted)
    }

    static func color(
        _ path: any WritableKeyPath<Step, Color> & Sendable, isOptional: Bool = true,
        isOpaque: Bool = false
    ) -> StepValue {
        StepValue(
            "colour", path,
            expected: isOpaque ? "an opaque color, #RRGGBB" : "#RRGGBB or #AARRGGBB",
            isOptional: isOptional, { Color($0) }, \.hexText,
            isPermitted: { !isOpaque || $0.alpha == UInt8.max })
    }

    /// An optional color.
    static func maybeColor(_ path: any WritableKeyPath<Step, Color?> & Sendable) -> StepValue {
        StepValue(
            "colour", path, expected: "#RRGGBB or #AARRGGBB", isOptional: true,
            { Color($0).map { .some($0) } }, { $0?.hexText }, isPermitted: { _ in true })
    }

    static func fill(_ path: any WritableKeyPath<Step, MarginFill> & Sendable) -> StepValue {
        StepValue(
            "fill", path, expected: MarginFill.expected, isOptional: true, { MarginFill($0) },
            \.description, isPermitted: { _ in true })
    }

    static func corners(_ path: any WritableKeyPath<Step, Corners> & Sendable) -> StepValue {
        StepValue(
            "corners", path, expected: Corners.expected, isOptional: true, { Corners($0) },
            \.description, isPermitted: \.isPermitted)
    }

    /// The edges that are trimmed equally; omitted for none.
    static func equalMargins(
        _ path: any WritableKeyPath<Step, EqualMargins?> & Sendable
    ) -> StepValue {
        StepValue(
            "equal", path, expected: EqualMargins.expected, isOptional: true,
            { EqualMargins(rawValue: $0).map { .some($0) } }, { $0?.rawValue },
            isPermitted: { _ in true })
    }

    static func ratio(_ path: any WritableKeyPath<Step, AspectRatio> & Sendable) -> StepValue {
        StepValue(
            "ratio", path,
            expected: "WIDTH:HEIGHT, integers from 1 to \(RequestLimits.sideMax)",
            isOptional: false, { AspectRatio($0) }, \.description, isPermitted: \.isPermitted)
    }

    /// A row of a color matrix.
    static func row(
        _ name: String, _ path: any WritableKeyPath<Step, ColorMatrix.Row> & Sendable
    ) -> StepValue {
        StepValue(
            name, path, expected: ColorMatrix.Row.expected, isOptional: false,
            { ColorMatrix.Row($0) }, \.description, isPermitted: \.isPermitted)
    }

    static func mode(_ path: any WritableKeyPath<Step, BlendMode> & Sendable) -> StepValue {
        StepValue(
            "mode", path, expected: "one of \(BlendMode.expected)", isOptional: true,
            { BlendMode(name: $0) }, \.name, isPermitted: { _ in true })
    }
}

/// A step with a few values, in the order of its textual syntax.
package protocol ValuedStep: NamedStep {
    static var values: [StepValue<Self>] { get }
    static var syntax: StepSyntax { get }
    /// A step with default values.
    static var blank: Self { get }
    var step: TransformStep { get }
    /// Performs checks beyond those of the individual values.
    func checkMore(pixelsMax: Int) throws(ImageError)
}

extension ValuedStep {
    package static var values: [StepValue<Self>] { [] }

    package var name: String { Self.syntax.name }

    /// Most steps change pixels that a reduced decode would have merged.
    package var demand: StepDemand { .everything }

    package var parameters: [String: String] {
        let texts = Self.values.map { (name: $0.name, text: $0.text(self)) }
        return texts.reduce(into: [:]) { $0[$1.name] = $1.text }
    }

    package func checkMore(pixelsMax: Int) throws(ImageError) {}

    package func check(pixelsMax: Int) throws(ImageError) {
        for value in Self.values where !value.isPermitted(self) {
            throw ImageError(
                .invalidRequest, "\(name): \(value.name) must be \(value.expected)"
            ) { $0.step = name }
        }
        try checkMore(pixelsMax: pixelsMax)
    }

    /// Creates the step from parameters on the wire, without checking ranges; returns `nil` if one
    /// is missing, of the wrong type, or unknown.
    static func read(_ parameters: [String: String]) -> TransformStep? {
        var step = blank
        var left = parameters
        for value in values {
            guard let text = left.removeValue(forKey: value.name) else {
                guard value.isOptional else { return nil }
                continue
            }
            guard value.read(&step, text) else { return nil }
        }
        return left.isEmpty ? step.step : nil
    }

    /// Parses the step from values separated by commas; returns `nil` for other texts and values
    /// out of range. Optional values may be omitted at any position.
    @Sendable static func parse(_ text: String) -> TransformStep? {
        var step = blank
        var left = values[...]
        let parts = text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
        for part in parts {
            guard let place = left.firstIndex(where: { $0.read(&step, String(part)) }),
                left[..<place].allSatisfy(\.isOptional)
            else { return nil }
            left = left[(place + 1)...]
        }
        guard left.allSatisfy(\.isOptional), values.allSatisfy({ $0.isPermitted(step) }),
            (try? step.checkMore(pixelsMax: RequestLimits.pixelsMax)) != nil
        else { return nil }
        return step.step
    }
}

/// Formats a number; integers have no decimal point.
private func plainText(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
}

/// The values of `resize-to`.
extension StepValue {
    /// A box in pixels or percent of the image, possibly above 100 %; 0 is open.
    static func relativeBox(
        _ path: any WritableKeyPath<Step, RelativeSize> & Sendable
    ) -> StepValue {
        StepValue(
            "size", path,
            expected: "WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) pixels, or above 0 "
                + "and at most 10000%; one side may be 0",
            isOptional: false, { RelativeSize($0) }, \.description, isPermitted: \.isPermittedBox)
    }

    static func resizeMode(_ path: any WritableKeyPath<Step, ResizeMode> & Sendable) -> StepValue {
        StepValue(
            "mode", path,
            expected: "one of " + ResizeMode.named.map(\.name).joined(separator: ", "),
            isOptional: true, { ResizeMode(name: $0) }, \.name, isPermitted: { _ in true })
    }

    /// Whether smaller images are enlarged; omitted for the default of the mode.
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

    /// A size whose sides may be 0; omitted if both are.
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

/// A step controlled by a single number.
package protocol NumberStep: ValuedStep {
    associatedtype Number: StepNumber
    static var traits: NumberTraits<Self> { get }
    var number: Number { get set }
    init(_ number: Number)
}

/// The description of a step with a number.
package struct NumberTraits<Step: NumberStep>: Sendable {
    /// The transformer key up to its parenthesis.
    let key: String
    /// The name of the number on the wire and in errors.
    let name: String
    package let range: ClosedRange<Step.Number>
    let syntax: StepSyntax
    let step: @Sendable (Step.Number) -> TransformStep

    init(
        _ stepName: String, _ name: String, in range: ClosedRange<Step.Number>, key: String,
        expected: String, _ step: @escaping @Sendable (Step.Number) -> TransformStep
    ) {
        (self.key, self.name, self.range, self.step) = (key, name, range, step)
        syntax = StepSyntax(
            stepName, value: name.uppercased(), expected: expected, Step.parse)
    }
}

/// A number type that a step may use.
package protocol StepNumber: Comparable, Sendable {
    /// The spelling in a transformer key.
    var keyText: String { get }
    static func value<Step: NumberStep>(of traits: NumberTraits<Step>) -> StepValue<Step>
    where Step.Number == Self
}

extension Double: StepNumber {
    package var keyText: String { decimalText(self) }

    package static func value<Step: NumberStep>(of traits: NumberTraits<Step>) -> StepValue<Step>
    where Step.Number == Double {
        .number(traits.name, \.number, in: traits.range)
    }
}

extension Int: StepNumber {
    package var keyText: String { sixDecimals(self) }

    package static func value<Step: NumberStep>(of traits: NumberTraits<Step>) -> StepValue<Step>
    where Step.Number == Int {
        .count(traits.name, \.number, in: traits.range)
    }
}

extension NumberStep {
    package static var values: [StepValue<Self>] { [Number.value(of: traits)] }
    package static var blank: Self { Self(traits.range.lowerBound) }
    package static var syntax: StepSyntax { traits.syntax }
    package var step: TransformStep { Self.traits.step(number) }
    package var key: String { "\(Self.traits.key)(\(number.keyText))" }
}
