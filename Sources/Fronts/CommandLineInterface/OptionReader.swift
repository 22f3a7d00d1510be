import Linux
import Model

/// Reads the options of a command: from the command line in order, and options that are not on it
/// from the environment.
package enum OptionReader {
    package static func read(
        _ arguments: [String], _ definitions: [OptionDefinition],
        environment: [String: String]
    ) throws(UsageError) -> ReadOptions {
        var read = try readCommandLine(arguments, definitions)
        for entry in read.entries {
            // The value of the option is missing.
            if definitions.contains(where: { $0.spellings.contains(entry.value) })
                || definitions.option(entry.value) != nil
            {
                throw UsageError(
                    "--\(entry.name) requires a value, but '\(entry.value)' is an option"
                        + usual(entry.name, definitions))
            }
            if definitions.option("--\(entry.name)")?.visibility == .later {
                throw UsageError("--\(entry.name) is not supported by this version")
            }
        }
        let ignored = Set(
            read.entries.map(\.name) + [OptionDefinition.help, .version].map(\.name))
        var fromEnvironment: [ReadOptions.Entry] = []
        for definition in definitions
        where !ignored.contains(definition.name) && definition.visibility == .shown {
            guard let text = variable(of: definition, in: environment) else { continue }
            fromEnvironment += try entries(of: definition, text)
        }
        read.entries = fromEnvironment + read.entries
        return read
    }

    /// Returns the text of the option's variable, or that of a former name if the variable is unset
    /// or empty.
    private static func variable(
        of definition: OptionDefinition, in environment: [String: String]
    ) -> String? {
        let texts = definition.environmentNames.compactMap { environment[$0] }
        return texts.first { !$0.isEmpty } ?? texts.first
    }

    /// Returns how to write the option without a value, if it has a default.
    private static func usual(
        _ name: some StringProtocol, _ definitions: [OptionDefinition]
    ) -> String {
        definitions.option("--\(name)")?.hasUsualValue == true
            ? "; '--\(name)=' uses the default" : ""
    }

    private static func entries(
        of definition: OptionDefinition, _ text: String
    ) throws(UsageError) -> [ReadOptions.Entry] {
        func entry(_ value: String) -> ReadOptions.Entry {
            ReadOptions.Entry(
                name: definition.name, value: definition.currentValue(of: value),
                origin: .environment)
        }
        guard definition.value != nil else {
            switch text.lowercased() {
            case "1", "true", "yes", "on": return [entry("")]
            case "", "0", "false", "no", "off": return []
            default:
                throw UsageError(
                    "\(definition.environmentName)=\(text): use 1 or 0, true or false")
            }
        }
        guard let separators = definition.separators else {
            return text.isEmpty ? [] : [entry(text)]
        }
        return text.split { separators.contains($0) }.map { entry(String($0)) }
    }
}

extension OptionReader {
    private static func readCommandLine(
        _ arguments: [String], _ definitions: [OptionDefinition]
    ) throws(UsageError) -> ReadOptions {
        let known = definitions.map {
            ScannedOption(
                name: $0.name, formerNames: $0.formerNames, letter: $0.letter,
                takesValue: $0.value != nil)
        }
        do throws(OptionScanner.Failure) {
            var read = ReadOptions()
            for item in try OptionScanner.scan(arguments, for: known) {
                switch item {
                case .operand(let text): read.operands.append(text)
                case .option(let index, let value):
                    let definition = definitions[index]
                    read.entries.append(
                        ReadOptions.Entry(
                            name: definition.name, value: definition.currentValue(of: value),
                            origin: .commandLine))
                }
            }
            return read
        } catch {
            switch error {
            case .missingValue(let argument):
                // A former name is replaced by the current one.
                let current = definitions.option(argument).map { "--\($0.name)" } ?? argument
                throw UsageError(
                    "\(current) requires a value" + usual(argument.dropFirst(2), definitions))
            case .refused(let argument): throw refusal(of: argument, definitions)
            }
        }
    }

    /// Returns the error for an unknown or ambiguous option, or a flag with a value.
    private static func refusal(
        of argument: String, _ definitions: [OptionDefinition]
    ) -> UsageError {
        guard argument.hasPrefix("--") else { return UsageError("unknown option '\(argument)'") }
        let name = argument.dropFirst(2).prefix { $0 != "=" }
        if let named = definitions.option("--\(name)"), named.value == nil {
            return UsageError("--\(named.name) takes no value")
        }
        let candidates = definitions.filter { definition in
            definition.visibility == .shown && definition.names.contains { $0.hasPrefix(name) }
        }
        guard candidates.count > 1 else {
            let known = definitions.filter { $0.visibility == .shown }.map { "--\($0.name)" }
            return UsageError(
                "unknown option '--\(name)'" + SpellingSuggestion.question("--\(name)", known))
        }
        let names = candidates.map { "--\($0.name)" }
        return UsageError("'--\(name)' is ambiguous: \(names.joined(separator: ", "))")
    }
}

extension [OptionDefinition] {
    /// Returns the option that is written like this, also with a former name; not with a letter.
    fileprivate func option(_ text: String) -> OptionDefinition? {
        first { definition in definition.names.contains { text == "--\($0)" } }
    }
}

/// The options from a command line and the environment, in order.
package struct ReadOptions: Hashable {
    /// One occurrence of an option.
    package struct Entry: Hashable {
        package let name: String
        /// The value; empty for a flag.
        package let value: String
        package let origin: Origin

        package init(name: String, value: String, origin: Origin) {
            (self.name, self.value, self.origin) = (name, value, origin)
        }

        /// The name to use in messages: the option or the environment variable that it came from.
        package var label: String {
            switch origin {
            case .commandLine: "--\(name)"
            case .environment: OptionDefinition.environmentName(of: name)
            case .variable(let variable): variable
            }
        }
    }

    /// Where an option came from.
    package enum Origin: Hashable {
        case environment
        /// A variable of another server's configuration.
        case variable(String)
        case commandLine
    }

    package var entries: [Entry] = []
    package var operands: [String] = []

    package func isSet(_ name: String) -> Bool { entries.contains { $0.name == name } }

    /// Returns the value of the last occurrence.
    package func last(_ name: String) -> String? { entries.last { $0.name == name }?.value }

    package func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

    /// Parses the last value of an option, if there is one.
    package func parsed<Value>(
        _ name: String, _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value? {
        try entries.last { $0.name == name }.map { (entry) throws(UsageError) in
            try entry.parsed(parse)
        }
    }

    /// Parses the last value of an option, with an error message that only states what is expected.
    package func parsed<Value>(
        _ name: String, as expected: String, _ parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try parsed(name) { (text) throws(UsageError) in
            try OptionValue.expect(parse(text), expected, text)
        }
    }

    /// Parses the last value of an option as an integer within a range.
    package func integer(
        _ name: String, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        try parsed(name) { (text) throws(UsageError) in try OptionValue.integer(text, in: range) }
    }

    /// Parses the last value of an option as a duration in milliseconds.
    package func milliseconds(_ name: String, atMost limit: Int) throws(UsageError) -> Int? {
        try parsed(name) { (text) throws(UsageError) in
            try OptionValue.milliseconds(text, atMost: limit)
        }
    }

    /// Parses the last value of an option as one of several words.
    package func word<Value>(
        _ name: String, _ words: [(name: String, value: Value)]
    ) throws(UsageError) -> Value? {
        try parsed(name) { (text) throws(UsageError) in try OptionValue.word(text, words) }
    }

    /// Parses the last value of an option as the raw value of a case.
    package func word<Value: CaseIterable & RawRepresentable<String>>(
        _ name: String
    ) throws(UsageError) -> Value? {
        try word(name, Value.allCases.map { ($0.rawValue, $0) })
    }

    /// Returns options as arguments for another program of the stack, with checked values.
    package func arguments(_ definitions: [OptionDefinition]) throws(UsageError) -> [String] {
        var arguments: [String] = []
        for definition in definitions {
            let given = entries.filter { $0.name == definition.name }
            for entry in definition.separators == nil ? given.suffix(1) : given[...] {
                arguments.append("--\(entry.name)")
                if definition.value != nil { arguments.append(try entry.parsed(definition.check)) }
            }
        }
        return arguments
    }

    /// Throws if there are operands, for commands that take none.
    package func checkNoOperands() throws(UsageError) {
        if let operand = operands.first { throw UsageError("unexpected argument '\(operand)'") }
    }

    package func parsedAll<Value>(
        _ name: String, _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> [Value] {
        var values: [Value] = []
        for entry in entries where entry.name == name { values.append(try entry.parsed(parse)) }
        return values
    }
}

extension ReadOptions.Entry {
    /// Parses the value; an error includes where the value came from.
    package func parsed<Value>(
        _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value {
        try Result { () throws(UsageError) in try parse(value) }
            .mapError { UsageError("\(label): \($0.message)") }.get()
    }
}

/// An invalid command line; exit status 64.
package struct UsageError: Error, Hashable {
    /// What is wrong, and what to do.
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Detects misspelled environment variables. Variables that don't resemble an option are ignored,
/// because scripts and containers also define variables with our prefix.
package enum EnvironmentSpelling {
    private static let prefix = "IMAGEBUS_"

    /// Returns a warning for each unknown variable that resembles an option.
    package static func warnings(
        _ environment: [String: String], options: some Sequence<OptionDefinition>,
        others: [String]
    ) -> [String] {
        let known = Set(options.flatMap(\.environmentNames) + others)
        let words = Set(options.map(\.environmentName) + others).map(bare).sorted()
        return environment.keys.sorted().compactMap { name in
            guard name.hasPrefix(prefix), !known.contains(name),
                let near = SpellingSuggestion.nearest(bare(name), words)
            else { return nil }
            return "\(name) is not a variable of Imagebus and has no effect. Did you mean "
                + "\(prefix)\(near)?"
        }
    }

    /// Returns a note for each variable that has a former name or value.
    package static func notes(
        _ environment: [String: String], options: some Sequence<OptionDefinition>
    ) -> [String] {
        let notes = options.filter { $0.visibility == .shown }.flatMap { option in
            option.environmentNames.compactMap { name -> String? in
                guard let text = environment[name], !text.isEmpty else { return nil }
                let (now, value) = (option.environmentName, option.currentValue(of: text))
                if value != text { return "\(name)=\(text) was renamed to \(now)=\(value)" }
                return name == now ? nil : "\(name) was renamed to \(now)"
            }
        }
        return Set(notes).sorted()
    }

    private static func bare(_ name: String) -> String { String(name.dropFirst(prefix.count)) }
}
