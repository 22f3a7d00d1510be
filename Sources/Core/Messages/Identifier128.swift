/// 128 random bits: tokens, groups, incarnations and epochs.
public struct Identifier128: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    /// Takes two random words.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Bytes on the wire.
    public static let byteCount = 16

    /// The wire's 16 bytes; `nil` for another count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ part: some Sequence<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
    }

    /// 32 hex digits; `nil` for other text.
    public init?(hex text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, digits.allSatisfy({ Self.isHexDigit($0) }),
            let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The 16 bytes on the wire.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    /// 32 hex digits.
    public var hex: String { Self.hex(high) + Self.hex(low) }

    /// The first 8 hex digits: what logs and status show of a token.
    public var short: String { String(hex.prefix(8)) }

    private static func hex(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
