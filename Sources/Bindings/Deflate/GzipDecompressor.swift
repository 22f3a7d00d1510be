internal import CDeflate

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
