/// RFC 4648 §4, strictly: no other characters, the padding whole, no bits behind the last byte.
package enum Base64 {
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        return bytes(
            ofDigits: text.dropLast(padding), last: (UInt8(ascii: "+"), UInt8(ascii: "/")))
    }

    /// The bytes of digits without padding; `nil` for other characters, and for bits behind the
    /// last byte.
    ///
    /// - Parameter last: the two digits in which the alphabets of RFC 4648 §4 and §5 differ.
    package static func bytes(
        ofDigits digits: some Collection<UInt8>, last: (UInt8, UInt8)
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var (bits, count) = (UInt32(0), UInt32(0))
        for digit in digits {
            guard let value = value(of: digit, last) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8, _ last: (UInt8, UInt8)) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit) - 0x41
        case 0x61...0x7A: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case last.0: 62
        case last.1: 63
        default: nil
        }
    }
}
