internal import CXXHash

/// XXH3 of bytes that lie in memory: detects accidents, not attacks.
public enum XXH3 {
    /// The 64-bit hash with seed 0.
    public static func hash64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH3_64bits(bytes.baseAddress, bytes.count)
    }

    /// The 64-bit hash with seed 0.
    public static func hash64(_ bytes: RawSpan) -> UInt64 {
        bytes.withUnsafeBytes { hash64($0) }
    }

    /// The 128-bit hash with seed 0.
    public static func hash128(_ bytes: UnsafeRawBufferPointer) -> Hash128 {
        Hash128(XXH3_128bits(bytes.baseAddress, bytes.count))
    }

    /// The 128-bit hash with seed 0.
    public static func hash128(_ bytes: RawSpan) -> Hash128 {
        bytes.withUnsafeBytes { hash128($0) }
    }
}
