internal import CDeflate

/// Compresses whole buffers to the zlib format (RFC 1950) used in PNG's IDAT.
///
/// Holds 0.1 to 9 MB, more at higher levels, so reuse it. Usable by one thread at a time. A call
/// can't be canceled: level 1 takes about 5 ms per megabyte.
public struct ZlibCompressor: ~Copyable {
    private let pointer: OpaquePointer

    /// Creates a compressor.
    ///
    /// - Parameter level: 1 (fastest) to 12 (smallest).
    /// - Throws: `DeflateError` if the level is invalid or memory is short.
    public init(level: Int) throws(DeflateError) {
        guard (1...12).contains(level) else { throw .noSuchLevel(level) }
        guard let pointer = libdeflate_alloc_compressor(CInt(level)) else { throw .outOfMemory }
        self.pointer = pointer
    }

    deinit {
        libdeflate_free_compressor(pointer)
    }

    /// Returns the largest compressed size of any `count` bytes.
    public func bound(_ count: Int) -> Int {
        libdeflate_zlib_compress_bound(pointer, count)
    }

    /// Compresses all of `bytes` as one stream.
    ///
    /// - Returns: the number of bytes written to `target`, or `nil` if they don't fit; `bound`
    ///   bytes always suffice.
    public borrowing func compress(
        _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let base = target.baseAddress else { return nil }
        // libdeflate requires a non-null address even for no bytes.
        let count = withUnsafePointer(to: UInt8(0)) { nothing in
            libdeflate_zlib_compress(
                pointer, bytes.baseAddress ?? UnsafeRawPointer(nothing), bytes.count, base,
                target.count)
        }
        return count > 0 ? count : nil
    }
}

/// Decompresses whole gzip files (RFC 1952).
public enum GzipDecompressor {
    private static let tailBytes = 4
    private static let leastBytes = 18

    /// Whether the bytes start like a gzip file.
    public static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= leastBytes && bytes[0] == 0x1F && bytes[1] == 0x8B
    }

    /// Decompresses a file with one member. Returns `nil` if it's damaged, empty, or larger than
    /// `most` bytes. Allocates the size stated in its trailer, at most `most` bytes.
    public static func inflated(_ bytes: UnsafeRawBufferPointer, atMost most: Int) -> [UInt8]? {
        guard isGzip(bytes), let base = bytes.baseAddress else { return nil }
        let count = bytes.suffix(tailBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard (1...most).contains(count), let pointer = libdeflate_alloc_decompressor() else {
            return nil
        }
        defer { libdeflate_free_decompressor(pointer) }
        var isWhole = false
        let compressed = [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            let result = libdeflate_gzip_decompress(
                pointer, base, bytes.count, target.baseAddress, count, nil)
            isWhole = result == LIBDEFLATE_SUCCESS
            // If the data ends early, none of it is used.
            filled = isWhole ? count : 0
        }
        return isWhole ? compressed : nil
    }
}

/// The checksum of PNG chunks and gzip. Detects accidental damage, not tampering.
public enum CRC32 {
    /// Returns the checksum of `bytes`, or continues the checksum `seed` with them.
    public static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        // For a null address libdeflate returns the checksum of no bytes, ignoring the seed.
        guard let base = bytes.baseAddress else { return seed }
        return libdeflate_crc32(seed, base, bytes.count)
    }

    /// Returns a PNG chunk: the length of `data`, a type of four characters, `data` and the
    /// checksum.
    public static func pngChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let signed = Array(type.utf8) + data
        let sum = signed.withUnsafeBytes { of($0) }
        return bigEndian(UInt32(data.count)) + signed + bigEndian(sum)
    }

    /// Returns PNG chunks of EXIF and XMP (PNG, third edition, 11.3); empty ones are omitted.
    public static func pngChunks(exif: [UInt8], xmp: [UInt8]) -> [UInt8] {
        let head = Array("XML:com.adobe.xmp\0".utf8) + [0, 0, 0, 0]
        return (exif.isEmpty ? [] : pngChunk("eXIf", exif))
            + (xmp.isEmpty ? [] : pngChunk("iTXt", head + xmp))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// Why a compressor couldn't be created.
public enum DeflateError: Error, Equatable, Sendable {
    /// The level isn't in 1 to 12.
    case noSuchLevel(Int)
    /// Its tables couldn't be allocated.
    case outOfMemory
}
