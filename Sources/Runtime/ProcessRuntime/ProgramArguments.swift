/// The arguments that a supervisor passes to a program: `--name value` pairs and `--name` flags.
///
/// Parsing is strict, because only programs of the stack use it; the interface for people is
/// `imagebus`.
public struct ProgramArguments: Sendable {
    private var values: [String: [String]]
    private var flags: Set<String>

    /// Parses arguments without the program's name. Throws for a name that is neither in `valued`
    /// nor in `flags`, and for a missing value.
    ///
    /// - Parameter formerNames: Names that are accepted too, with those that replaced them.
    public init(
        _ arguments: [String], valued: Set<String>, flags known: Set<String> = [],
        formerNames: [String: String] = [:]
    ) throws(ProgramArgumentsError) {
        values = [:]
        flags = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let given = String(argument.dropFirst(2))
            let name = formerNames[given] ?? given
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

    /// Returns whether a flag was given.
    public func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Returns the last value with this name.
    public func value(_ name: String) -> String? { values[name]?.last }

    /// Returns all values with this name, in order.
    public func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Returns the value with this name. Throws if it is missing.
    public func required(_ name: String) throws(ProgramArgumentsError) -> String {
        guard let value = value(name) else { throw .missingValue(name) }
        return value
    }

    /// Returns a nonnegative integer, or `fallback` if the name was not given.
    public func number(_ name: String, else fallback: Int) throws(ProgramArgumentsError) -> Int {
        guard let text = value(name) else { return fallback }
        guard let number = Int(text), number >= 0 else { throw .notANumber(name, text) }
        return number
    }
}

/// An error in a program's arguments.
public enum ProgramArgumentsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An unknown argument.
    case unknown(String)
    /// The name needs a value.
    case missingValue(String)
    /// The value is not a number.
    case notANumber(String, String)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .unknown(let argument): "unknown argument '\(argument)'"
        case .missingValue(let name): "--\(name) requires a value"
        case .notANumber(let name, let text): "--\(name) requires a number, not '\(text)'"
        }
    }
}
