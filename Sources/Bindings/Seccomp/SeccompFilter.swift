import CSeccomp

/// Which system calls this process may make; made step by step, then loaded for good.
///
/// Calls that no rule names fail with the error number of `init`. Calls in the manner of another
/// architecture, such as 32 bits on a 64-bit system, end the process.
public struct SeccompFilter: ~Copyable {
    private let context: scmp_filter_ctx

    /// A filter without rules: everything fails with `number`, as in `<errno.h>`.
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

    /// Permits a call, if all `conditions` hold. Several rules for one name: one must fit.
    ///
    /// A call that this processor does not have is skipped. Throws for a name that libseccomp does
    /// not know (ENOENT).
    public mutating func allow(
        _ name: String, if conditions: [SeccompCondition] = []
    ) throws(SeccompError) {
        try add(cseccomp_allow(), name, conditions)
    }

    /// Lets a call fail with another error number than the others.
    public mutating func fail(_ name: String, with number: UInt16) throws(SeccompError) {
        try add(cseccomp_fail(number), name, [])
    }

    /// From now on the filter holds for all threads of this process and whatever they start; there
    /// is no way back. Sets `no_new_privs` as well.
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

/// What an argument of a system call must be. Pointers cannot be looked behind.
public struct SeccompCondition: Hashable, Sendable {
    /// 0 for the first one.
    public let argument: Int
    /// The bits that count.
    public let mask: UInt64
    /// What these bits must be.
    public let value: UInt64

    /// `argument & mask == value`.
    public init(_ argument: Int, mask: UInt64, equals value: UInt64) {
        (self.argument, self.mask, self.value) = (argument, mask, value)
    }

    /// An argument of C's type `int`: only its 32 bits count, since the kernel looks at no others.
    public init(_ argument: Int, int value: Int32) {
        self.init(argument, mask: 0xFFFF_FFFF, equals: UInt64(UInt32(bitPattern: value)))
    }

    /// A pointer that is NULL, or a whole word that is 0.
    public static func zero(_ argument: Int) -> SeccompCondition {
        SeccompCondition(argument, mask: .max, equals: 0)
    }

    var raw: cseccomp_condition {
        cseccomp_condition(argument: UInt32(argument), mask: mask, value: value)
    }
}

/// Why a filter was not made or not loaded.
public struct SeccompError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What did not work, for example `seccomp_load`, or the name of a system call.
    public let operation: String
    /// The number as in `<errno.h>`; positive.
    public let number: Int32

    /// One phrase.
    public var description: String { "\(operation): errno \(number)" }
}
