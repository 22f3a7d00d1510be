/// What the first bytes of an encoded image say of it: which format it is, and its size.
///
/// Read without a codec, for those who must not run one: every byte may be a stranger's. No more is
/// read than a bounded number of parts of the file, none of it twice.
public struct ImageHeader: Hashable, Sendable {
    /// By the signature.
    public let format: ImageFormat
    /// Columns and rows as they are stored, both at least 1: an orientation is not looked at.
    public let size: PixelSize

    /// Reads JPEG, PNG, GIF and WebP; `nil` for anything else, and for what has no pixels.
    public init?(_ bytes: Span<UInt8>) {
        let reader = HeaderBytes(bytes)
        let found: (format: ImageFormat, size: PixelSize?) =
            switch reader.byte(0) {
            case 0xFF: (.jpeg, reader.jpegSize)
            case 0x89: (.png, reader.pngSize)
            case 0x47: (.gif, reader.gifSize)
            case 0x52: (.webp, reader.webPSize)
            default: (.undefined, nil)
            }
        guard let size = found.size, size.isPositive else { return nil }
        (format, self.size) = (found.format, size)
    }
}

/// Numbers in bytes that may end anywhere.
struct HeaderBytes: ~Escapable {
    private let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// `nil` behind the end.
    func byte(_ offset: Int) -> UInt8? {
        bytes.indices.contains(offset) ? bytes[offset] : nil
    }

    /// Whether these bytes are there.
    func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { wanted in
            wanted.indices.allSatisfy { byte(offset + $0) == wanted[$0] }
        }
    }

    /// A number of `count` bytes, at most seven, the most significant one first.
    func bigEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value = value << 8 | Int(byte)
        }
        return value
    }

    /// The same, the least significant byte first.
    func littleEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value |= Int(byte) << (8 * index)
        }
        return value
    }
}
