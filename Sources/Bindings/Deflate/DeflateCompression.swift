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

/// Inflates whole files of gzip (RFC 1952).
public enum GzipDecompressor {
    private static let tailBytes = 4
    private static let leastBytes = 18

    /// Whether bytes begin as such a file does.
    public static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= leastBytes && bytes[0] == 0x1F && bytes[1] == 0x8B
    }

    /// What a file of one member has; `nil` where it is damaged, or has nothing, or more than
    /// `most` bytes. As many bytes are allocated as its end says, `most` at most.
    public static func inflated(_ bytes: UnsafeRawBufferPointer, atMost most: Int) -> [UInt8]? {
        guard isGzip(bytes), let base = bytes.baseAddress else { return nil }
        let count = bytes.suffix(tailBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard (1...most).contains(count), let pointer = libdeflate_alloc_decompressor() else {
            return nil
        }
        defer { libdeflate_free_decompressor(pointer) }
        var isWhole = false
        let made = [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            let result = libdeflate_gzip_decompress(
                pointer, base, bytes.count, target.baseAddress, count, nil)
            isWhole = result == LIBDEFLATE_SUCCESS
            // Where it ends early nothing of it is used.
            filled = isWhole ? count : 0
        }
        return isWhole ? made : nil
    }
}

/// The check sum of PNG's chunks and of gzip: detects accidents, not attacks.
public enum CRC32 {
    /// The sum of `bytes`, or of what `seed` is the sum of followed by `bytes`.
    public static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        // Of no address libdeflate answers the sum of nothing, whatever the seed is.
        guard let base = bytes.baseAddress else { return seed }
        return libdeflate_crc32(seed, base, bytes.count)
    }
}

/// Why there is no compressor.
public enum DeflateError: Error, Equatable, Sendable {
    /// Levels are 1 to 12.
    case noSuchLevel(Int)
    /// Its tables could not be allocated.
    case outOfMemory
}
