import CLinux
import Glibc
import Synchronization

/// One option that a command line may have.
public struct ScannedOption: Hashable, Sendable {
    /// Without the dashes.
    public let name: String
    /// The letter of its short form, ASCII.
    public let letter: Character?
    /// Whether a value follows.
    public let takesValue: Bool

    /// Describes an option.
    public init(name: String, letter: Character? = nil, takesValue: Bool) {
        self.name = name
        self.letter = letter
        self.takesValue = takesValue
    }
}

/// Takes a command line apart with `getopt_long`, which knows all customs: `--name value`,
/// `--name=value`, `-ovalue`, unambiguous beginnings of names, `--`. The order of everything is
/// kept. Any thread.
public enum OptionScanner {
    /// What stands on a command line.
    public enum Item: Hashable, Sendable {
        /// The option of that index; an empty value for a flag.
        case option(Int, value: String)
        /// Anything that is no option.
        case operand(String)
    }

    /// Why a command line cannot be read; each names the argument as it was given.
    public enum Failure: Error, Hashable, Sendable {
        /// An option that needs a value is last.
        case missingValue(String)
        /// Not known, ambiguous, or a flag with a value.
        case refused(String)
    }

    /// `getopt_long` keeps its place in global variables.
    private static let gate = Mutex(())
    private static let firstCode: Int32 = 1000

    /// Reads the arguments behind the program's name; at most 192 options are known.
    public static func scan(
        _ arguments: [String], for options: [ScannedOption]
    ) throws(Failure) -> [Item] {
        precondition(options.count <= 192, "the table in options.c has 192 places")
        let result = gate.withLock { _ in
            Result { () throws(Failure) in try scanAlone(arguments, options) }
        }
        return try result.get()
    }

    private static func scanAlone(
        _ arguments: [String], _ options: [ScannedOption]
    ) throws(Failure) -> [Item] {
        let vector = CStrings(["imagebus"] + arguments)
        let names = CStrings(options.map(\.name))
        let table = options.indices.map {
            clinux_option(
                name: names.pointers[$0], takes_value: options[$0].takesValue,
                code: firstCode + Int32($0))
        }
        // A leading `-` keeps operands in their place, `:` tells a missing value from the rest.
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

/// C strings that live as long as this.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            (pointers + index).initialize(to: strdup(string))
        }
        (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
