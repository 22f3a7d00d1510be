import CSeccomp

/// The system calls that this process may make: built rule by rule, then loaded irrevocably.
///
/// Calls without a rule fail with the error number passed to `init`. Calls through another
/// architecture's ABI, such as 32-bit calls on a 64-bit system, kill the process.
public struct SeccompFilter: ~Copyable {
    private let context: scmp_filter_ctx

    /// Creates a filter without rules: every call fails with `number`, as defined in `<errno.h>`.
    public init(failingWith number: UInt16) throws(SeccompError) {
        guard let context = seccomp_init(cseccomp_fail(number)) else {
            throw SeccompError(operation: "seccomp_init", number: ENOMEM)
        }
        let result = cseccomp_prepare(context)
        guard result == 0 else {
            seccomp_release(context)
            throw SeccompError(operation: "seccomp_attr_set", number: -result)
        }
        self.context = context
    }

    deinit { seccomp_release(context) }

    /// Permits a call if all `conditions` hold. If there are several rules for one name, one must
    /// match.
    ///
    /// A call that doesn't exist on this architecture is skipped. Throws ENOENT for a name that
    /// libseccomp doesn't know.
    public mutating func allow(
        _ name: String, if conditions: [SeccompCondition] = []
    ) throws(SeccompError) {
        try add(cseccomp_allow(), name, conditions)
    }

    /// Makes a call fail with a different error number.
    public mutating func fail(_ name: String, with number: UInt16) throws(SeccompError) {
        try add(cseccomp_fail(number), name, [])
    }

    /// Applies the filter irrevocably to all threads of this process and everything they start.
    /// Also sets `no_new_privs`.
    public consuming func load() throws(SeccompError) {
        let result = seccomp_load(context)
        guard result == 0 else { throw SeccompError(operation: "seccomp_load", number: -result) }
    }

    private mutating func add(
        _ action: UInt32, _ name: String, _ conditions: [SeccompCondition]
    ) throws(SeccompError) {
        let raw = conditions.map(\.raw)
        let result = cseccomp_add(context, action, name, raw, UInt32(raw.count))
        guard result == 0 else { throw SeccompError(operation: name, number: -result) }
    }
}

/// A condition on a system call's argument. Memory behind pointers can't be inspected.
public struct SeccompCondition: Hashable, Sendable {
    /// The argument's index, starting at 0.
    public let argument: Int
    /// The bits to compare.
    public let mask: UInt64
    /// The required value of these bits.
    public let value: UInt64

    /// Requires `argument & mask == value`.
    public init(_ argument: Int, mask: UInt64, equals value: UInt64) {
        (self.argument, self.mask, self.value) = (argument, mask, value)
    }

    /// Requires an `int` argument to have this value. Only 32 bits are compared, since the kernel
    /// ignores the others.
    public init(_ argument: Int, int value: Int32) {
        self.init(argument, mask: 0xFFFF_FFFF, equals: UInt64(UInt32(bitPattern: value)))
    }

    /// Requires a pointer to be NULL, or a full word to be 0.
    public static func zero(_ argument: Int) -> SeccompCondition {
        SeccompCondition(argument, mask: .max, equals: 0)
    }

    var raw: cseccomp_condition {
        cseccomp_condition(argument: UInt32(argument), mask: mask, value: value)
    }
}

/// Why a filter couldn't be created or loaded.
public struct SeccompError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed operation, such as `seccomp_load`, or the name of a system call.
    public let operation: String
    /// The positive number defined in `<errno.h>`.
    public let number: Int32

    /// A one-line description.
    public var description: String { "\(operation): errno \(number)" }
}
