/// A step that does to every pixel what one number says.
package protocol NumberStep: ValuedStep {
    associatedtype Number: StepNumber
    static var traits: NumberTraits<Number> { get }
    var number: Number { get set }
    init(_ number: Number)
}

/// What a number of a step is.
package struct NumberTraits<Number: StepNumber>: Sendable {
    /// The transformer key before its parenthesis.
    let key: String
    /// The word on the wire and in errors.
    let name: String
    package let range: ClosedRange<Number>

    init(key: String, _ name: String, in range: ClosedRange<Number>) {
        (self.key, self.name, self.range) = (key, name, range)
    }
}

/// What a step can count in.
package protocol StepNumber: Comparable, Sendable {
    /// As it is in a transformer key.
    var keyText: String { get }
    static func value<Step: NumberStep>(of traits: NumberTraits<Self>) -> StepValue<Step>
    where Step.Number == Self
}

extension Double: StepNumber {
    package var keyText: String { decimalText(self) }

    package static func value<Step: NumberStep>(of traits: NumberTraits<Double>) -> StepValue<Step>
    where Step.Number == Double {
        .number(traits.name, \.number, in: traits.range)
    }
}

extension Int: StepNumber {
    package var keyText: String { sixDecimals(self) }

    package static func value<Step: NumberStep>(of traits: NumberTraits<Int>) -> StepValue<Step>
    where Step.Number == Int {
        .count(traits.name, \.number, in: traits.range)
    }
}

extension NumberStep {
    package static var values: [StepValue<Self>] { [Number.value(of: traits)] }

    package static var blank: Self { Self(traits.range.lowerBound) }

    package var key: String { "\(Self.traits.key)(\(number.keyText))" }

    package var demand: StepDemand { .everything }
}
