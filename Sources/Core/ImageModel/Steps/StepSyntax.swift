/// How people write a step: the option of the command line and the key of a preset, which have the
/// same name and the same text.
package struct StepSyntax: Sendable {
    /// The word.
    package let name: String
    /// What stands for the value in the help; `nil`: the step has none.
    package let value: String?
    /// What the help says.
    package let help: String
    /// What an error says of the value.
    package let expected: String
    /// The step of a value, which is empty where it has none; `nil` for other texts.
    package let parse: @Sendable (String) -> TransformStep?
    /// Which part of a text that is none is wrong; `nil` where that is not known.
    package var fault: @Sendable (String) -> String? = { _ in nil }

    /// A step with a value.
    init(
        _ name: String, value: String, _ help: String, expected: String,
        _ parse: @escaping @Sendable (String) -> TransformStep?
    ) {
        (self.name, self.value, self.help) = (name, value, help)
        (self.expected, self.parse) = (expected, parse)
    }

    /// A step without one.
    init(_ name: String, _ help: String, _ step: TransformStep) {
        (self.name, value, self.help, expected) = (name, nil, help, "")
        parse = { $0.isEmpty ? step : nil }
    }
}
