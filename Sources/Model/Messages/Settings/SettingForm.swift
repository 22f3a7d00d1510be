/// How the values of a setting are written. Its help, its errors and its parser share it.
struct SettingForm<Value> {
    /// The placeholder of the value in the help; `nil` for a flag.
    let placeholder: String?
    /// The description of a valid text, for errors.
    let expected: String
    /// The accepted words, if only words are accepted.
    var words: [String] = []
    /// Parses a value; returns `nil` if it is invalid.
    let parse: (String) -> Value?

    /// Returns a form with the same texts for other values.
    func map<Other>(_ change: @escaping (Value) -> Other) -> SettingForm<Other> {
        SettingForm<Other>(placeholder: placeholder, expected: expected, words: words) {
            parse($0).map(change)
        }
    }
}

extension SettingForm where Value == Int {
    /// An integer.
    static func integer(_ range: ClosedRange<Int>, placeholder: String = "N") -> SettingForm {
        let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
        return SettingForm(placeholder: placeholder, expected: expected) {
            PlainNumber.integer($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A duration in whole seconds.
    static func seconds(_ range: ClosedRange<Int>) -> SettingForm {
        let expected =
            "\(DurationText.expected), from \(range.lowerBound)s to \(range.upperBound)s"
        return SettingForm(placeholder: "TIME", expected: expected) {
            DurationText.seconds(of: $0).flatMap { range.contains(Int($0)) ? Int($0) : nil }
        }
    }

    /// A number of bytes, with examples and limits for errors.
    static func bytes(_ range: ClosedRange<Int>, _ examples: String) -> SettingForm {
        SettingForm(placeholder: "BYTES", expected: "a number of bytes, such as \(examples)") {
            PlainNumber.scaled($0, by: 1_024).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// The index of a word.
    static func word(
        _ words: [String], placeholder: String = "WORD", expected: String
    ) -> SettingForm {
        SettingForm(placeholder: placeholder, expected: expected, words: words) {
            words.firstIndex(of: $0)
        }
    }
}
