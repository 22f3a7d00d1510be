/// What stands around compressed bytes.
public enum InflateFormat: Hashable, Sendable {
    /// A header and a check sum of gzip (RFC 1952).
    case gzip
    /// A header and a check sum of zlib (RFC 1950).
    case zlib
    /// Nothing (RFC 1951).
    case raw

    /// The format of a stream of zlib or of nothing around it, by its first two bytes: those of a
    /// zlib header name method 8 and a window of at most 32 KB, and are a multiple of 31.
    public init(startingWith first: UInt8, _ second: UInt8) {
        let isZlib =
            first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
        self = isZlib ? .zlib : .raw
    }

    /// What `inflateInit2` calls `windowBits`.
    var windowBits: Int32 {
        switch self {
        case .gzip: 15 + 16
        case .zlib: 15
        case .raw: -15
        }
    }
}
