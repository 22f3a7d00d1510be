internal import CDeflate

/// Compresses whole buffers to zlib's format (RFC 1950), as PNG wants it in IDAT.
///
/// Holds 0.1 to 9 MB, more with higher levels; reuse it. One thread at a time. A call cannot be
/// cancelled: at level 1 it takes some 5 ms a megabyte.
public struct ZlibCompressor: ~Copyable {
    private let pointer: OpaquePointer

    /// A compressor.
    ///
    /// - Parameter level: 1, the fastest, to 12, the smallest.
    /// - Throws: `DeflateError` where the level is none or there is no memory.
    public init(level: Int) throws(DeflateError) {
        guard (1...12).contains(level) else { throw .noSuchLevel(level) }
        guard let pointer = libdeflate_alloc_compressor(CInt(level)) else { throw .outOfMemory }
        self.pointer = pointer
    }

    deinit {
        libdeflate_free_compressor(pointer)
    }

    /// The most bytes that `count` bytes can become, whatever they are.
    public func bound(_ count: Int) -> Int {
        libdeflate_zlib_compress_bound(pointer, count)
    }

    /// Compresses all of `bytes` as one stream.
    ///
    /// - Returns: how many bytes of `target` it takes, or nil where it does not fit; with room for
    ///   `bound` bytes it always does.
    public borrowing func compress(
        _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let base = target.baseAddress else { return nil }
        // libdeflate wants an address even of no bytes.
        let count = withUnsafePointer(to: UInt8(0)) { nothing in
            libdeflate_zlib_compress(
                pointer, bytes.baseAddress ?? UnsafeRawPointer(nothing), bytes.count, base,
                target.count)
        }
        return count > 0 ? count : nil
    }
}
