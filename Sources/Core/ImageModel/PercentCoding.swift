/// Percent-encoded text as bytes, and bytes as percent-encoded text (RFC 3986 §2.1).
package enum PercentCoding {
    /// `nil` where a percent sign is not followed by two hexadecimal digits.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// All but letters, digits, `-`, `.`, `_`, `~` and `/` becomes `%XX`: the one form of a path
    /// that signatures of S3 are made of.
    static func encode(path: some Collection<UInt8>) -> String {
        encode(path) { isUnreserved($0) || $0 == UInt8(ascii: "/") }
    }

    /// All but the bytes that are kept becomes `%XX`.
    package static func encode(
        _ bytes: some Collection<UInt8>, keeping isKept: (UInt8) -> Bool
    ) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
