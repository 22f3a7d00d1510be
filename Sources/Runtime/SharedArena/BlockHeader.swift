import Linux

/// The 64 bytes before every payload: the block's id, little-endian, then zeros.
///
/// A header is never authority (SEMANTICS §14.5); it only tells a reader of `results/` whether the
/// bytes that it copied were still those of the block it was told of.
enum BlockHeader {
    /// Bytes; keeps payloads aligned for vector code.
    static let byteCount = 64

    /// Before the bytes change: readers that copy from now on find no id.
    static func invalidate(_ header: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelaxed(0, to: header)
        SharedAtomic.fenceRelease()
    }

    /// After the bytes are complete.
    static func publish(_ id: UInt64, at header: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelease(id, to: header)
    }

    /// After a copy: whether the copied bytes were the block's.
    static func isStill(_ id: UInt64, at header: UnsafeRawPointer) -> Bool {
        SharedAtomic.fenceAcquire()
        return SharedAtomic.loadRelaxed(header) == id
    }
}
