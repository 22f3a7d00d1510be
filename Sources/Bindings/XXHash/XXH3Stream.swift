internal import CXXHash

/// XXH3 of bytes that arrive in pieces; the same value as `XXH3` over all of them.
public struct XXH3Stream: ~Copyable {
    private let state: OpaquePointer

    /// An empty stream, seed 0.
    ///
    /// - Throws: where there is no memory for its 576 bytes.
    public init() throws(OutOfMemory) {
        guard let state = XXH3_createState() else { throw OutOfMemory() }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit {
        XXH3_freeState(state)
    }

    /// Takes the next piece.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // One state serves both widths: they differ in the final step only (xxhash.h).
        XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
    }

    /// The 64-bit hash of all pieces so far; more may follow.
    public borrowing func hash64() -> UInt64 {
        XXH3_64bits_digest(state)
    }

    /// The 128-bit hash of all pieces so far; more may follow.
    public borrowing func hash128() -> Hash128 {
        Hash128(XXH3_128bits_digest(state))
    }
}

extension XXH3Stream {
    /// No memory for the state of a stream.
    public struct OutOfMemory: Error {}
}
