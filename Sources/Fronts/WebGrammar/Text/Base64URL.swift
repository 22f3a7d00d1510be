/// RFC 4648, section 5, with or without padding.
enum Base64URL {
    /// `nil` for other characters, for a length that no bytes have, and for bits behind the last
    /// byte.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var digits = Array(text)
        var padding = 0
        while padding < 2, digits.last == UInt8(ascii: "=") {
            digits.removeLast()
            padding += 1
        }
        guard digits.count % 4 != 1, padding == 0 || (digits.count + padding) % 4 == 0 else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var (bits, count) = (UInt32(0), UInt32(0))
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit) - 0x41
        case 0x61...0x7A: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
