/// Hashes and compares rests of bodies (`TokenedBody`).
public enum RestBytes {
    @usableFromInline
    static func hash(_ rest: RawSpan) -> Int {
        var hasher = Hasher()
        rest.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Whether a rest has these bytes. By words: comparing them one by one costs as much as the
    /// hash.
    public static func isEqual(_ known: [UInt8], _ rest: RawSpan) -> Bool {
        guard known.count == rest.byteCount else { return false }
        let known = known.span.bytes
        var offset = 0
        while offset + 8 <= rest.byteCount {
            let same =
                known.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == rest.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard same else { return false }
            offset += 8
        }
        while offset < rest.byteCount {
            guard
                known.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                    == rest.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            else { return false }
            offset += 1
        }
        return true
    }
}
