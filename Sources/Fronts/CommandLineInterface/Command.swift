/// One command: what it reads and what its help says.
package struct Command: Sendable {
    package let name: String
    /// One line for the list of commands.
    package let summary: String
    /// Behind the name in the first line of the help.
    package let usage: String
    /// What its operands may be, by their place, and what those behind them may be.
    package let operands: [ValueChoice]
    package let furtherOperands: ValueChoice
    /// Groups of options under a heading.
    package let options: [(heading: String, definitions: [OptionDefinition])]
    /// Paragraphs behind the options.
    package let notes: String
    /// Complete lines, each with what it does.
    package let examples: [(line: String, does: String)]

    /// The options that its help shows, with those that every command has.
    package var shownDefinitions: [OptionDefinition] {
        definitions.filter { $0.visibility == .shown }
    }

    /// All options, with those that every command has.
    package var definitions: [OptionDefinition] {
        options.flatMap(\.definitions) + [.help, .version]
    }

    package init(
        name: String, summary: String, usage: String, operands: [ValueChoice] = [],
        furtherOperands: ValueChoice = .free,
        options: [(heading: String, definitions: [OptionDefinition])], notes: String,
        examples: [(line: String, does: String)]
    ) {
        (self.name, self.summary, self.usage) = (name, summary, usage)
        (self.operands, self.furtherOperands) = (operands, furtherOperands)
        (self.options, self.notes, self.examples) = (options, notes, examples)
    }
}

extension Command {
    /// The exit status of a command line that makes no sense.
    package static let usageStatus: Int32 = 64

    /// Reads the options and answers `--help` and `--version`; all else `perform` does. Returns the
    /// exit status.
    package func run(
        _ arguments: [String], environment: [String: String],
        _ perform: (ReadOptions) throws(UsageError) -> Int32
    ) -> Int32 {
        do throws(UsageError) {
            let read = try OptionReader.read(arguments, definitions, environment: environment)
            if read.isSet(OptionDefinition.help.name) {
                return Terminal.finish(name, HelpText.text(of: self))
            }
            if read.isSet(OptionDefinition.version.name) {
                return Terminal.finish(name, HelpText.version)
            }
            return try perform(read)
        } catch {
            Terminal.complain(name, "\(error.message); see imagebus \(name) --help")
            return Self.usageStatus
        }
    }
}

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

/// What a value on the command line may be, for shells that complete it.
package enum ValueChoice: Hashable, Sendable {
    /// Anything.
    case free
    /// One of these. Behind one that ends in `=` more is to come.
    case words([String])
    /// Some of these, with commas between them.
    case list([String])
    case file
    case directory

    /// What the word for a value in the help says: `FILE`, `DIR`, or words in small letters as
    /// `h|v|hv`.
    init(placeholder: String) {
        let words = placeholder.split(separator: "|").map(String.init)
        let isOfWords = words.count > 1 && words.allSatisfy { $0.allSatisfy(\.isLowercase) }
        switch placeholder {
        case "FILE": self = .file
        case "DIR", "DIRECTORY": self = .directory
        default: self = isOfWords ? .words(words) : .free
        }
    }

    /// The words of a closed set; empty for others.
    package var offered: [String] {
        switch self {
        case .words(let words), .list(let words): words
        case .free, .file, .directory: []
        }
    }
}
