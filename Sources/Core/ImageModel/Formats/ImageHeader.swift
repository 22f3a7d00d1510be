/// What the first bytes of an encoded image say of it: which format it is, and its size.
///
/// Read without a codec, for those who must not run one: every byte may be a stranger's. No more is
/// read than a bounded number of parts of the file, none of it twice.
public struct ImageHeader: Hashable, Sendable {
    /// By the signature.
    public let format: ImageFormat
    /// Columns and rows as they are stored, both at least 1: an orientation is not looked at.
    public let size: PixelSize

    /// Reads the formats whose row says where the size is; `nil` for anything else, and for what
    /// has no pixels.
    public init?(_ bytes: Span<UInt8>) {
        let reader = HeaderBytes(bytes)
        let format = ImageFormat.sniff(reader.start(ImageFormat.signatureBytes), tail: [])
        guard let size = format.traits.storedSize?(reader), size.isPositive else { return nil }
        (self.format, self.size) = (format, size)
    }
}

/// Numbers in bytes that may end anywhere.
package struct HeaderBytes: ~Escapable {
    private let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// The first bytes, so many at most.
    func start(_ count: Int) -> [UInt8] {
        bytes.indices.prefix(count).map { bytes[$0] }
    }

    /// The last bytes, so many at most.
    func end(_ count: Int) -> [UInt8] {
        bytes.indices.suffix(count).map { bytes[$0] }
    }

    /// `nil` behind the end.
    package func byte(_ offset: Int) -> UInt8? {
        bytes.indices.contains(offset) ? bytes[offset] : nil
    }

    /// Whether these bytes are there.
    package func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { wanted in
            wanted.indices.allSatisfy { byte(offset + $0) == wanted[$0] }
        }
    }

    /// A number of `count` bytes, at most seven, the most significant one first.
    package func bigEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value = value << 8 | Int(byte)
        }
        return value
    }

    /// The same, the least significant byte first.
    package func littleEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value |= Int(byte) << (8 * index)
        }
        return value
    }
}
