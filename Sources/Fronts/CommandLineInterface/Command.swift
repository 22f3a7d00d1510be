import Reporting

/// A command: its options, operands and help.
package struct Command: Sendable {
    package let name: String
    /// Former names, which are accepted but not shown.
    package let formerNames: [String]
    /// A one-line description for the list of commands.
    package let summary: String
    /// The text after the name in the first line of the help.
    package let usage: String
    /// The possible values of the operands, by position, and of any further operands.
    package let operands: [ValueChoice]
    package let furtherOperands: ValueChoice
    /// The options, in groups with headings.
    package let options: [(heading: String, definitions: [OptionDefinition])]
    /// Paragraphs printed after the options.
    package let notes: String
    /// Complete command lines, each with a description.
    package let examples: [(line: String, does: String)]

    /// The options shown in the help, including those that every command has.
    package var shownDefinitions: [OptionDefinition] { shownGroups.flatMap(\.definitions) }

    /// The same in their groups.
    package var shownGroups: [(heading: String, definitions: [OptionDefinition])] {
        let groups = options + [("", [OptionDefinition.help, .version])]
        return groups.compactMap { heading, definitions in
            let shown = definitions.filter { $0.visibility == .shown }
            return shown.isEmpty ? nil : (heading: heading, definitions: shown)
        }
    }

    /// All options, including those that every command has.
    package var definitions: [OptionDefinition] {
        options.flatMap(\.definitions) + [.help, .version]
    }

    package init(
        name: String, formerNames: [String] = [], summary: String, usage: String,
        operands: [ValueChoice] = [], furtherOperands: ValueChoice = .free,
        options: [(heading: String, definitions: [OptionDefinition])], notes: String,
        examples: [(line: String, does: String)]
    ) {
        (self.name, self.formerNames) = (name, formerNames)
        (self.summary, self.usage) = (summary, usage)
        (self.operands, self.furtherOperands) = (operands, furtherOperands)
        (self.options, self.notes, self.examples) = (options, notes, examples)
    }
}

extension Command {
    /// The exit status for an invalid command line.
    package static let usageStatus: Int32 = 64

    /// Reads the options and handles `--help` and `--version`; `perform` does everything else, and
    /// its error is reported. Returns the exit status.
    package func run(
        _ arguments: [String], environment: [String: String],
        _ perform: (ReadOptions) throws -> Int32
    ) -> Int32 {
        do {
            let read = try OptionReader.read(arguments, definitions, environment: environment)
            if read.isSet(OptionDefinition.help.name) {
                return Terminal.finish(
                    name, HelpText.text(of: self, columns: HelpLayout.columns))
            }
            if read.isSet(OptionDefinition.version.name) {
                return Terminal.finish(name, HelpText.version)
            }
            return try perform(read)
        } catch let error as UsageError {
            Terminal.complain(name, "\(error.message); see imagebus \(name) --help")
            return Self.usageStatus
        } catch {
            return Terminal.fail(name, error)
        }
    }
}

/// An option of a command: on the command line, in the environment and in the help.
package struct OptionDefinition: Sendable {
    /// The name without dashes.
    package let name: String
    /// The short form, such as `o` for `-o`.
    package var letter: Character?
    /// The placeholder for the value in the help; `nil` for a flag.
    package var value: String?
    /// The possible values, if the placeholder doesn't determine them.
    package var words: ValueChoice?
    /// Former names, which are accepted on the command line and in the environment but not shown.
    package var formerNames: [String] = []
    /// Former values, which are accepted but not shown, with those that replaced them.
    package var formerValues: [String: String] = [:]
    /// The help text, in one or more lines.
    package var help: String
    /// The separators between several values in the environment; `nil` if the variable holds only
    /// one value.
    package var separators: [Character]?
    /// Whether an empty value selects a default, as in `--trim=`.
    package var hasUsualValue = false
    /// Checks a value, and returns it as other programs of the stack expect it.
    package var check: @Sendable (String) throws(UsageError) -> String = { $0 }
    /// Whether the help shows the option. Hidden options are used only by our own processes or
    /// reserved for a later version.
    package var visibility = Visibility.shown

    package enum Visibility: Hashable, Sendable {
        case shown
        case hidden
        /// Recognized, so that an error message can refer to it.
        case later
    }

    package init(
        _ name: String, letter: Character? = nil, value: String? = nil,
        of words: ValueChoice? = nil, separators: [Character]? = nil,
        visibility: Visibility = .shown, _ help: String = ""
    ) {
        (self.name, self.letter, self.value, self.words) = (name, letter, value, words)
        (self.separators, self.visibility, self.help) = (separators, visibility, help)
    }

    /// The possible values, for shell completion; a flag has none.
    package var choice: ValueChoice { words ?? value.map(ValueChoice.init(placeholder:)) ?? .free }

    /// The name of the environment variable: `IMAGEBUS_ALLOW_ADDRESS` for `--allow-address`.
    package var environmentName: String { Self.environmentName(of: name) }

    /// The names of the environment variables, including former ones.
    package var environmentNames: [String] { names.map(Self.environmentName(of:)) }

    /// The name and the former names, without dashes.
    var names: [String] { [name] + formerNames }

    /// The name and the letter as they are written.
    var spellings: [String] { ["--\(name)"] + (letter.map { ["-\($0)"] } ?? []) }

    /// Returns the option with former names and values.
    package func formerly(
        _ names: [String], values: [String: String] = [:]
    ) -> OptionDefinition {
        var definition = self
        (definition.formerNames, definition.formerValues) = (names, values)
        return definition
    }

    /// Returns the option with a check of its values.
    package func checked(
        _ check: @escaping @Sendable (String) throws(UsageError) -> String
    ) -> OptionDefinition {
        var definition = self
        definition.check = check
        return definition
    }

    /// Returns a value in which former words are replaced by the current ones.
    package func currentValue(of text: String) -> String {
        guard !formerValues.isEmpty else { return text }
        guard case .list = choice else { return formerValues[text] ?? text }
        return text.split(separator: ",", omittingEmptySubsequences: false)
            .map { formerValues[String($0)] ?? String($0) }.joined(separator: ",")
    }

    /// Returns the environment variable of an option.
    package static func environmentName(of name: String) -> String {
        "IMAGEBUS_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    package static let help = OptionDefinition("help", letter: "h", "print this help")
    package static let version = OptionDefinition("version", "print the version")
}

/// The possible values of an option or operand, for shell completion.
package enum ValueChoice: Hashable, Sendable {
    /// Any text.
    case free
    /// One of these words. A word that ends in `=` must be continued.
    case words([String])
    /// Several of these words, separated by commas.
    case list([String])
    case file
    case directory

    /// Derives the possible values from a placeholder in the help: `FILE`, `DIR`, or lowercase
    /// words such as `h|v|hv`.
    init(placeholder: String) {
        let words = placeholder.split(separator: "|").map(String.init)
        let isOfWords = words.count > 1 && words.allSatisfy { $0.allSatisfy(\.isLowercase) }
        switch placeholder {
        case "FILE": self = .file
        case "DIR", "DIRECTORY": self = .directory
        default: self = isOfWords ? .words(words) : .free
        }
    }

    /// The words of a closed set; empty for other values.
    package var offered: [String] {
        switch self {
        case .words(let words), .list(let words): words
        case .free, .file, .directory: []
        }
    }
}
