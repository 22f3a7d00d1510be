/// The arguments with which a supervisor starts a program: `--name value` pairs and `--name` flags.
///
/// People use `imagebus`; this is the line between two programs of ours, so it is strict.
public struct ProgramArguments: Sendable {
    private var values: [String: [String]]
    private var flags: Set<String>

    /// Reads arguments without the program's name. Throws for a name that is not among `valued`
    /// and `flags`, and for a missing value.
    public init(
        _ arguments: [String], valued: Set<String>, flags known: Set<String> = []
    ) throws(ProgramArgumentsError) {
        values = [:]
        flags = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let name = String(argument.dropFirst(2))
            if argument.hasPrefix("--"), known.contains(name) {
                flags.insert(name)
            } else if argument.hasPrefix("--"), valued.contains(name) {
                guard let value = rest.popFirst() else { throw .missingValue(name) }
                values[name, default: []].append(value)
            } else {
                throw .unknown(argument)
            }
        }
    }

    /// Whether a flag was given.
    public func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The last value of that name.
    public func value(_ name: String) -> String? { values[name]?.last }

    /// All values of that name, in order.
    public func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of that name. Throws where there is none.
    public func required(_ name: String) throws(ProgramArgumentsError) -> String {
        guard let value = value(name) else { throw .missingValue(name) }
        return value
    }

    /// A whole number that is not negative; `fallback` where the name was not given.
    public func number(_ name: String, else fallback: Int) throws(ProgramArgumentsError) -> Int {
        guard let text = value(name) else { return fallback }
        guard let number = Int(text), number >= 0 else { throw .notANumber(name, text) }
        return number
    }
}

/// What is wrong with a program's arguments.
public enum ProgramArgumentsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No such argument.
    case unknown(String)
    /// The name needs a value.
    case missingValue(String)
    /// The value is no number.
    case notANumber(String, String)

    /// One sentence.
    public var description: String {
        switch self {
        case .unknown(let argument): "unknown argument '\(argument)'"
        case .missingValue(let name): "--\(name) needs a value"
        case .notANumber(let name, let text): "--\(name) needs a number, not '\(text)'"
        }
    }
}
