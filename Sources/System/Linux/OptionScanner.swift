import CLinux
import Synchronization

/// An option that a command line may contain.
public struct ScannedOption: Hashable, Sendable {
    /// The long name without dashes.
    public let name: String
    /// Former names without dashes, which are accepted too.
    public let formerNames: [String]
    /// The letter of the short form, ASCII; `nil` if it has none.
    public let letter: Character?
    /// Whether the option takes a value.
    public let takesValue: Bool

    /// Creates an option description.
    public init(
        name: String, formerNames: [String] = [], letter: Character? = nil, takesValue: Bool
    ) {
        self.name = name
        self.formerNames = formerNames
        self.letter = letter
        self.takesValue = takesValue
    }
}

/// Parses a command line with `getopt_long`, which supports `--name value`, `--name=value`,
/// `-ovalue`, unambiguous prefixes of names, and `--`. The order of all items is preserved. Usable
/// from any thread.
public enum OptionScanner {
    /// An item of a command line.
    public enum Item: Hashable, Sendable {
        /// The option with this index; the value of a flag is empty.
        case option(Int, value: String)
        /// Anything that isn't an option.
        case operand(String)
    }

    /// Why a command line can't be parsed; each case has the argument as given.
    public enum Failure: Error, Hashable, Sendable {
        /// The last option lacks its value.
        case missingValue(String)
        /// The option is unknown or ambiguous, or is a flag that was given a value.
        case refused(String)
    }

    /// `getopt_long` keeps its state in global variables.
    private static let gate = Mutex(())
    private static let firstCode: Int32 = 1000

    /// Parses the arguments that follow the program name; supports at most 192 options and former
    /// names.
    public static func scan(
        _ arguments: [String], for options: [ScannedOption]
    ) throws(Failure) -> [Item] {
        let result = gate.withLock { _ in
            Result { () throws(Failure) in try scanAlone(arguments, options) }
        }
        return try result.get()
    }

    private static func scanAlone(
        _ arguments: [String], _ options: [ScannedOption]
    ) throws(Failure) -> [Item] {
        let vector = CStringList(["imagebus"] + arguments)
        // A former name has the code of its option, so that a prefix of both isn't ambiguous.
        let entries: [(name: String, index: Int)] = options.indices.flatMap { index in
            ([options[index].name] + options[index].formerNames).map { (name: $0, index: index) }
        }
        precondition(entries.count <= 192, "the table in options.c is limited to 192 entries")
        let names = CStringList(entries.map(\.name))
        let table = entries.indices.map {
            clinux_option(
                name: names.pointers[$0], takes_value: options[entries[$0].index].takesValue,
                code: firstCode + Int32(entries[$0].index))
        }
        // A leading `-` keeps operands in order, `:` reports a missing value separately from other
        // errors.
        let letters = "-:" + options.map(shortForm).joined()
        var items: [Item] = []
        var hit = clinux_option_hit()
        while clinux_next_option(
            hit.next == 0, Int32(vector.count), vector.pointers, letters, table,
            table.count, &hit) > 0
        {
            let last = Int(hit.next) - 1
            items.append(
                try item(hit, options, argument: last < 1 ? "" : arguments[last - 1]))
        }
        let rest = arguments.dropFirst(Int(hit.next) - 1)
        withExtendedLifetime((vector, names)) {}
        return items + rest.map { .operand($0) }
    }

    private static func shortForm(_ option: ScannedOption) -> String {
        option.letter.map { "\($0)\(option.takesValue ? ":" : "")" } ?? ""
    }

    private static func item(
        _ hit: clinux_option_hit, _ options: [ScannedOption], argument: String
    ) throws(Failure) -> Item {
        let value = hit.value.map { String(cString: $0) } ?? ""
        switch hit.code {
        case 1: return .operand(value)
        case Int32(UInt8(ascii: ":")): throw .missingValue(argument)
        case firstCode...: return .option(Int(hit.code - firstCode), value: value)
        default:
            let index = options.firstIndex {
                $0.letter?.asciiValue.map { Int32($0) } == hit.code
            }
            guard let index else { throw .refused(argument) }
            return .option(index, value: value)
        }
    }
}
