internal import CZlib

/// The check sum of gzip and of the chunks of a PNG: it detects accidents, not attacks.
public enum CRC32 {
    /// The sum of `bytes`.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        // zlib takes no address for the wish to begin.
        return start == nil ? 0 : UInt32(truncatingIfNeeded: crc32_z(0, start, bytes.count))
    }
}
