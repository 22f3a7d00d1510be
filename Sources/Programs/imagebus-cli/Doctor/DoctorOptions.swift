import CommandLineInterface
import StackAccess

/// What `imagebus doctor` was told.
struct DoctorOptions: Hashable {
    var stack: OperatorOptions
    var cacheDirectory: String?
    /// Where the programs of a stack lie; nil: beside this one.
    var programs: String?
    /// Within which an image has to go through the stack.
    var milliseconds: Int
    /// What whoever looks at the terminal wants (NO_COLOR).
    var hasColours: Bool

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
        cacheDirectory = try read.cacheDirectory(environment)
        programs = environment["IMAGEBUS_PROGRAMS"].flatMap { $0.isEmpty ? nil : $0 }
        milliseconds = try Self.within(read)
        hasColours = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Of `--within`.
    static func within(_ read: ReadOptions) throws(UsageError) -> Int {
        try read.parsed("within") { (text) throws(UsageError) in
            try OptionValue.milliseconds(text, atMost: withinMillisecondsMax)
        } ?? StackCanary.usualMilliseconds
    }

    private static let withinMillisecondsMax = 60_000
}
