/// One option of one command: on the command line, in the environment and in the help.
struct OptionDefinition: Hashable, Sendable {
    /// Without the dashes.
    let name: String
    /// One letter, such as the `o` of `-o`.
    var letter: Character?
    /// What stands for the value in the help; nil: a flag.
    var value: String?
    /// One line, or several with line ends.
    var help: String
    /// What separates several values in the environment; nil: only one value at a time.
    var separators: [Character]?
    /// What only our own processes use, or what a later version brings; not in the help.
    var visibility = Visibility.shown

    enum Visibility: Hashable, Sendable {
        case shown
        case hidden
        /// Known, so that the message can say so.
        case later
    }

    init(
        _ name: String, letter: Character? = nil, value: String? = nil,
        separators: [Character]? = nil, visibility: Visibility = .shown, _ help: String = ""
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.separators = separators
        self.visibility = visibility
        self.help = help
    }

    /// `--allow-address` is `IMAGEBUS_ALLOW_ADDRESS`.
    var environmentName: String {
        "IMAGEBUS_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    static let help = OptionDefinition("help", letter: "h", "show this text")
    static let version = OptionDefinition("version", "show the versions")
}
