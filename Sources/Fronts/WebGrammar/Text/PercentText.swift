/// Percent-encoded text of a path as bytes (RFC 3986, section 2.1).
enum PercentText {
    /// Throws where a percent sign is not followed by two hexadecimal digits.
    static func bytes(_ text: some StringProtocol, of option: String? = nil) throws(GrammarError)
        -> [UInt8]
    {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
            else {
                throw GrammarError(
                    .malformed, "a % is not followed by two hexadecimal digits: write it as %25",
                    option: option)
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The same as text without control characters; throws for bytes that are no UTF-8.
    static func text(_ text: some StringProtocol, of option: String) throws(GrammarError) -> String
    {
        let bytes = try bytes(text, of: option)
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(option, "it is no UTF-8: encode it as UTF-8")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed(option, "it has control characters: leave them out")
        }
        return decoded
    }

    /// Every byte that is not kept becomes `%XX`.
    static func encode(_ bytes: [UInt8], keeping isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
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
}
