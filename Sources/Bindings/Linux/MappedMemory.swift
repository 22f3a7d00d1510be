import CLinux

/// A shared mapping of a file's bytes; unmapped when the value ends.
///
/// The descriptor may be closed at once. The file must not shrink while it is mapped: touching a
/// page that is gone is SIGBUS, which is why segments are reserved and never truncated
/// (SEMANTICS §14.4).
public struct MappedMemory: ~Copyable {
    /// What may be done with the bytes.
    public enum Access: Sendable {
        /// Reading; a write is a fault.
        case readOnly
        /// Reading and writing.
        case readWrite
    }

    private let base: UnsafeMutableRawPointer
    /// The length in bytes, as asked for.
    public let count: Int
    /// What may be done with the bytes.
    public let access: Access

    /// Maps `count` bytes from `offset` (a multiple of the page size) on.
    ///
    /// Throws EACCES when the descriptor does not allow `access`, EINVAL for no bytes at all.
    public init(
        _ descriptor: borrowing FileDescriptor, offset: Int = 0, count: Int, access: Access
    ) throws(Errno) {
        let number = descriptor.number
        var address: UnsafeMutableRawPointer?
        try syscall {
            clinux_map(number, Int64(offset), count, access == .readWrite, &address)
        }
        guard let address else { throw .inputOutput }
        self.base = address
        self.count = count
        self.access = access
    }

    deinit {
        // Fails only for an address that was never mapped.
        _ = clinux_unmap(base, count)
    }

    /// Touches every page now, so that no later access faults (MADV_POPULATE_READ, _WRITE).
    ///
    /// Throws `Errno.noMemory`, or EFAULT where a write would have been SIGBUS.
    public borrowing func populate() throws(Errno) {
        let (base, count, writing) = (base, count, access == .readWrite)
        try syscall { clinux_populate(base, count, writing) }
    }

    /// The bytes; valid only while this value lives.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count)
    }

    /// The bytes for writing; valid only while this value lives.
    ///
    /// A precondition: the mapping is `readWrite`.
    public var mutableBytes: UnsafeMutableRawBufferPointer {
        precondition(access == .readWrite, "a read-only mapping has no mutable bytes")
        return UnsafeMutableRawBufferPointer(start: base, count: count)
    }
}

// The value is an address and a length that never change; who may touch the bytes when is settled
// by the protocol on the bytes themselves, as it must be between processes.
extension MappedMemory: @unchecked Sendable {}
