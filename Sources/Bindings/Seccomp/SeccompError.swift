/// Why a filter was not made or not loaded.
public struct SeccompError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What did not work, for example `seccomp_load`, or the name of a system call.
    public let operation: String
    /// The number as in `<errno.h>`; positive.
    public let number: Int32

    /// One phrase.
    public var description: String { "\(operation): errno \(number)" }
}
