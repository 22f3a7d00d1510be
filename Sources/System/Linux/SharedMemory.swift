import CLinux

/// A shared mapping of a file, unmapped when the value ends.
///
/// The descriptor may be closed right after mapping. The file must not shrink while it's mapped:
/// accessing a page that's gone raises SIGBUS, which is why segments are allocated up front and
/// never truncated (SEMANTICS §14.4).
public struct MappedMemory: ~Copyable {
    /// The permitted kinds of access.
    public enum Access: Sendable {
        /// Read-only; a write raises SIGSEGV.
        case readOnly
        /// Read and write.
        case readWrite
    }

    private let base: UnsafeMutableRawPointer
    /// The requested length in bytes.
    public let count: Int
    /// The permitted access.
    public let access: Access

    /// Maps `count` bytes starting at `offset`, a multiple of the page size.
    ///
    /// Throws EACCES if the descriptor doesn't permit `access`, EINVAL if `count` is 0.
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

    /// Touches every page now, so that later accesses don't fault (MADV_POPULATE_READ, _WRITE).
    ///
    /// Throws `Errno.noMemory`, or EFAULT if a write would have raised SIGBUS.
    public borrowing func populate() throws(Errno) {
        let (base, count, writing) = (base, count, access == .readWrite)
        try syscall { clinux_populate(base, count, writing) }
    }

    /// The bytes; only valid while this value lives.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count)
    }

    /// The bytes for writing; only valid while this value lives.
    ///
    /// Precondition: the mapping is `readWrite`.
    public var mutableBytes: UnsafeMutableRawBufferPointer {
        precondition(access == .readWrite, "a read-only mapping has no mutable bytes")
        return UnsafeMutableRawBufferPointer(start: base, count: count)
    }
}

// Sendable: the value is an address and a length that never change. Access to the bytes is
// synchronized by the protocol on the bytes themselves, as it must be between processes.
extension MappedMemory: @unchecked Sendable {}

/// Atomic access to 64-bit words in memory shared with other processes.
///
/// Precondition: every address is a multiple of 8 inside a live mapping.
public enum SharedAtomic {
    /// Loads with acquire ordering: everything written before the matching release store is visible
    /// afterwards.
    public static func loadAcquire(_ address: UnsafeRawPointer) -> UInt64 {
        clinux_load_acquire(address)
    }

    /// Loads without ordering other accesses.
    public static func loadRelaxed(_ address: UnsafeRawPointer) -> UInt64 {
        clinux_load_relaxed(address)
    }

    /// Stores with release ordering: everything written before is visible after an acquire load of
    /// this value.
    public static func storeRelease(_ value: UInt64, to address: UnsafeMutableRawPointer) {
        clinux_store_release(address, value)
    }

    /// Stores without ordering other accesses.
    public static func storeRelaxed(_ value: UInt64, to address: UnsafeMutableRawPointer) {
        clinux_store_relaxed(address, value)
    }

    /// Keeps later accesses from being reordered before earlier loads.
    public static func fenceAcquire() {
        clinux_fence_acquire()
    }

    /// Keeps earlier accesses from being reordered after later stores.
    public static func fenceRelease() {
        clinux_fence_release()
    }
}
