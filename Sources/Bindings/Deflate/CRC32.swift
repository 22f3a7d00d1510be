internal import CDeflate

/// The check sum of PNG's chunks and of gzip: detects accidents, not attacks.
public enum CRC32 {
    /// The sum of `bytes`, or of what `seed` is the sum of followed by `bytes`.
    public static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        // Of no address libdeflate answers the sum of nothing, whatever the seed is.
        guard let base = bytes.baseAddress else { return seed }
        return libdeflate_crc32(seed, base, bytes.count)
    }
}
