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
