import CSeccomp

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
