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

/// Atomic access to 64-bit words in memory that other processes map too.
///
/// Every address must be a multiple of 8 inside a live mapping: a precondition of the caller.
public enum SharedAtomic {
    /// Loads; what the writer did before its release store is seen after it.
    public static func loadAcquire(_ address: UnsafeRawPointer) -> UInt64 {
        clinux_load_acquire(address)
    }

    /// Loads the word alone; orders nothing.
    public static func loadRelaxed(_ address: UnsafeRawPointer) -> UInt64 {
        clinux_load_relaxed(address)
    }

    /// Stores; what was done before is seen by who loads this value with acquire.
    public static func storeRelease(_ value: UInt64, to address: UnsafeMutableRawPointer) {
        clinux_store_release(address, value)
    }

    /// Stores the word alone; orders nothing.
    public static func storeRelaxed(_ value: UInt64, to address: UnsafeMutableRawPointer) {
        clinux_store_relaxed(address, value)
    }

    /// Adds, and returns what was there before; orders nothing.
    @discardableResult
    public static func addRelaxed(
        _ value: UInt64, to address: UnsafeMutableRawPointer
    ) -> UInt64 {
        clinux_fetch_add_relaxed(address, value)
    }

    /// No later access moves before an earlier load.
    public static func fenceAcquire() {
        clinux_fence_acquire()
    }

    /// No earlier access moves behind a later store.
    public static func fenceRelease() {
        clinux_fence_release()
    }
}
