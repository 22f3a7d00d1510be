internal import CXXHash

/// XXH3 of bytes in memory. Detects accidental changes, not tampering.
public enum XXH3 {
    /// Returns the 64-bit hash with seed 0.
    public static func hash64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH3_64bits(bytes.baseAddress, bytes.count)
    }

    /// Returns the 64-bit hash with seed 0.
    public static func hash64(_ bytes: RawSpan) -> UInt64 {
        bytes.withUnsafeBytes { hash64($0) }
    }
}
