/// What stood on a command line and in the environment, in order.
package struct ReadOptions: Hashable {
    /// One option as it was given.
    package struct Entry: Hashable {
        package let name: String
        /// Empty for a flag.
        package let value: String
        package let origin: Origin

        package init(name: String, value: String, origin: Origin) {
            (self.name, self.value, self.origin) = (name, value, origin)
        }

        /// What whoever gave it wrote: the option, or the variable.
        package var label: String {
            switch origin {
            case .commandLine: "--\(name)"
            case .environment: OptionDefinition.environmentName(of: name)
            case .variable(let variable): variable
            }
        }
    }

    /// Where an option stood.
    package enum Origin: Hashable {
        case environment
        /// A variable of another server's.
        case variable(String)
        case commandLine
    }

    package var entries: [Entry] = []
    package var operands: [String] = []

    package init() {}

    package func isSet(_ name: String) -> Bool { entries.contains { $0.name == name } }

    /// The last one given counts.
    package func last(_ name: String) -> String? { entries.last { $0.name == name }?.value }

    package func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

    /// Parses the last value with that name, if there is one.
    package func parsed<Value>(
        _ name: String, _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value? {
        try entries.last { $0.name == name }.map { (entry) throws(UsageError) in
            try entry.parsed(parse)
        }
    }

    /// Parses the last value with that name, where nothing has to be said of a text that is none
    /// but what would be one.
    package func parsed<Value>(
        _ name: String, as expected: String, _ parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try parsed(name) { (text) throws(UsageError) in
            guard let value = parse(text) else {
                throw UsageError("'\(text)' is not \(expected)")
            }
            return value
        }
    }

    /// Parses each value with that name.
    package func parsedAll<Value>(
        _ name: String, _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> [Value] {
        var values: [Value] = []
        for entry in entries where entry.name == name { values.append(try entry.parsed(parse)) }
        return values
    }
}

extension ReadOptions.Entry {
    /// Its value as another one; an error says where the value stood.
    package func parsed<Value>(
        _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value {
        do throws(UsageError) {
            return try parse(value)
        } catch {
            throw UsageError("\(label): \(error.message)")
        }
    }
}
