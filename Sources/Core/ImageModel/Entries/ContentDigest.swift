/// SHA-256 of the bytes of an entry or a reply (FIPS 180-4, SEMANTICS §5.22).
public struct ContentDigest: Hashable, Sendable {
    /// Its bytes.
    public static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `nil` unless there are 32 of them.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(Array(bytes).span.bytes)
    }

    /// The same of bytes that lie in one piece.
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.byteCount else { return nil }
        func word(at offset: Int) -> UInt64 {
            bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
        }
        words = (word(at: 0), word(at: 8), word(at: 16), word(at: 24))
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            memory.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: UInt64.self)
            memory.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
            memory.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
            memory.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
            count = Self.byteCount
        }
    }

    /// As the field `Repr-Digest` says it (RFC 9530 §3): `sha-256=:…:`, in Base64.
    public var reprDigest: String { "sha-256=:\(Base64Text.text(bytes)):" }

    /// Whether both are of the same bytes.
    public static func == (one: Self, other: Self) -> Bool { one.words == other.words }

    /// Its words.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
