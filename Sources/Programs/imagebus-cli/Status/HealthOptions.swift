import CommandLineInterface
import Messages
import StackAccess

/// Whose health is asked for.
struct HealthOptions: Hashable {
    /// nil: whether the whole stack can load images.
    var only: ProcessKind?
    /// Whether an image has to go through it, and within which time; nil: it has not.
    var canaryMilliseconds: Int?
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        let within = try DoctorOptions.within(read)
        canaryMilliseconds = read.isSet("canary") ? within : nil
        guard canaryMilliseconds != nil || read.entries.allSatisfy({ $0.label != "--within" })
        else { throw UsageError("--within is the time of --canary: give both") }
        guard canaryMilliseconds == nil || !read.isSet("only") else {
            throw UsageError("--canary goes through all kinds of processes: leave out --only")
        }
        only = try read.parsed("only", OptionValue.kind)
        stack = try OperatorOptions(withoutOperands: read, environment: environment)
    }
}
