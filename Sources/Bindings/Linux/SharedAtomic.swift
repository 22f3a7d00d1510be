import CLinux

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
