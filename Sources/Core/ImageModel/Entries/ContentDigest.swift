/// SHA-256 of the bytes of an entry or a reply (FIPS 180-4, SEMANTICS §5.22).
public struct ContentDigest: Hashable, Sendable {
    /// Its bytes.
    public static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `nil` unless there are 32 of them.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (place, byte) in bytes.enumerated() {
            words[place / 8] = words[place / 8] << 8 | UInt64(byte)
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    /// As the field `Repr-Digest` says it (RFC 9530 §3): `sha-256=:…:`, in Base64.
    public var reprDigest: String { "sha-256=:\(Base64Text.text(bytes)):" }

    /// Whether both are of the same bytes.
    public static func == (one: Self, other: Self) -> Bool { one.words == other.words }

    /// Its words.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
