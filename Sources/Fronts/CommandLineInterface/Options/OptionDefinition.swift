/// One option of one command: on the command line, in the environment and in the help.
package struct OptionDefinition: Hashable, Sendable {
    /// Without the dashes.
    package let name: String
    /// One letter, such as the `o` of `-o`.
    package var letter: Character?
    /// What stands for the value in the help; nil: a flag.
    package var value: String?
    /// What the value may be, where the word for it in the help does not say it.
    package var words: ValueChoice?
    /// One line, or several with line ends.
    package var help: String
    /// What separates several values in the environment; nil: only one value at a time.
    package var separators: [Character]?
    /// Whether an empty value stands for one: `--trim=`.
    package var hasUsualValue = false
    /// What only our own processes use, or what a later version brings; not in the help.
    package var visibility = Visibility.shown

    package enum Visibility: Hashable, Sendable {
        case shown
        case hidden
        /// Known, so that the message can say so.
        case later
    }

    package init(
        _ name: String, letter: Character? = nil, value: String? = nil,
        of words: ValueChoice? = nil, separators: [Character]? = nil,
        visibility: Visibility = .shown, _ help: String = ""
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.words = words
        self.separators = separators
        self.visibility = visibility
        self.help = help
    }

    /// What its value may be, for shells that complete it; a flag has none.
    package var choice: ValueChoice { words ?? value.map(ValueChoice.init(placeholder:)) ?? .free }

    /// `--allow-address` is `IMAGEBUS_ALLOW_ADDRESS`.
    package var environmentName: String { Self.environmentName(of: name) }

    /// The variable of an option.
    package static func environmentName(of name: String) -> String {
        "IMAGEBUS_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    package static let help = OptionDefinition("help", letter: "h", "show this text")
    package static let version = OptionDefinition("version", "show the versions")
}
