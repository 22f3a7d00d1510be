internal import CZlib

/// Compresses whole buffers to the format of zlib (RFC 1950). Any thread.
public enum Deflater {
    /// One stream of all of `bytes`.
    ///
    /// - Parameter level: 1, the fastest, to 9, the smallest; others are taken for the nearest.
    /// - Throws: `outOfMemory`.
    public static func zlib(_ bytes: [UInt8], level: Int = 1) throws(ZlibError) -> [UInt8] {
        let level = Int32(min(max(1, level), 9))
        var isWhole = true
        let stream = [UInt8](unsafeUninitializedCapacity: Int(compressBound(UInt(bytes.count)))) {
            target, count in
            var written = uLong(target.count)
            isWhole =
                compress2(target.baseAddress, &written, bytes, uLong(bytes.count), level) == Z_OK
            count = isWhole ? Int(written) : 0
        }
        // There is room for whatever it may become.
        guard isWhole else { throw .outOfMemory }
        return stream
    }
}
