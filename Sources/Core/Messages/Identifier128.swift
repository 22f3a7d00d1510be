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
    public var hex: String {
        String(unsafeUninitializedCapacity: 32) { digits in
            Self.write(high, 16, to: digits, at: 0)
            Self.write(low, 16, to: digits, at: 16)
            return 32
        }
    }

    /// The first 8 hex digits: what logs and status show of a token.
    public var short: String {
        String(unsafeUninitializedCapacity: 8) { digits in
            Self.write(high, 8, to: digits, at: 0)
            return 8
        }
    }

    /// Writes the first hex digits of a word, 16 at most.
    private static func write(
        _ word: UInt64, _ count: Int, to digits: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) {
        for index in 0..<count {
            let digit = UInt8(word >> UInt64(60 - 4 * index) & 0xF)
            digits[start + index] = digit + (digit < 10 ? 0x30 : 0x61 - 10)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
