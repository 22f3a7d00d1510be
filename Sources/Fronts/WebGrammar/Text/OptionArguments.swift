import ImageModel

/// The arguments of one option, in their order.
struct OptionArguments: Hashable, Sendable {
    /// The name of the option, as it was written.
    let option: String
    let values: [String]

    init(_ option: String, _ values: [String]) {
        (self.option, self.values) = (option, values)
    }

    /// Those behind the first ones, of the same option.
    func dropFirst(_ count: Int) -> OptionArguments {
        OptionArguments(option, Array(values.dropFirst(count)))
    }

    /// An argument that says something; `nil` where there is none, or an empty one.
    subscript(_ index: Int) -> String? {
        values.indices.contains(index) && !values[index].isEmpty ? values[index] : nil
    }

    func atMost(_ count: Int) throws(GrammarError) {
        guard values.count <= count else {
            throw .malformed(
                option, "it has \(values.count) arguments: \(count) at most are accepted")
        }
    }

    /// The only argument, which may be empty.
    func only() throws(GrammarError) -> String {
        try atMost(1)
        return values.first ?? ""
    }

    /// The whole number at that place; `nil` where nothing is there.
    func whole(_ index: Int, in range: ClosedRange<Int>) throws(GrammarError) -> Int? {
        guard let text = self[index] else { return nil }
        guard let number = PlainNumber.integer(text), range.contains(number) else {
            throw .malformed(
                option,
                "\(shown(text)) is no whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
        return number
    }

    /// The number at that place; `nil` where nothing is there.
    func decimal(_ index: Int, in range: ClosedRange<Double>) throws(GrammarError) -> Double? {
        guard let text = self[index] else { return nil }
        guard let number = PlainNumber.decimal(text), range.contains(number) else {
            throw .malformed(
                option,
                "\(shown(text)) is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Yes or no at that place; `nil` where nothing is there.
    func flag(_ index: Int) throws(GrammarError) -> Bool? {
        guard let text = self[index] else { return nil }
        switch text {
        case "1", "t", "T", "true", "True", "TRUE": return true
        case "0", "f", "F", "false", "False", "FALSE": return false
        default: throw .malformed(option, "\(shown(text)) is neither 1 (t, true) nor 0 (f, false)")
        }
    }

    /// What becomes of damaged images: the only argument.
    func onlyDamaged() throws(GrammarError) -> DamagedImages {
        let text = try needed(Optional(try only()))
        guard let choice = DamagedImages(name: text) else {
            throw .malformed(option, "\(shown(text)) is neither show nor refuse")
        }
        return choice
    }

    /// Something that the option cannot do without.
    func needed<Value>(_ value: Value?) throws(GrammarError) -> Value {
        guard let value else { throw .malformed(option, "an argument is missing: name it") }
        return value
    }

    /// An argument in a sentence, cut off where it is long.
    func shown(_ text: String) -> String {
        text.utf8.count > 40 ? "'\(text.prefix(40))…'" : "'\(text)'"
    }
}
