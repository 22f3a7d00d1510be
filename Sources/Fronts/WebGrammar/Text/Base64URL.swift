import ImageModel

/// RFC 4648, section 5, with or without padding.
enum Base64URL {
    /// The text of bytes, without padding.
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var (text, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 6 {
                count -= 6
                text.append(digits[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 { text.append(digits[Int(bits << UInt32(6 - count) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

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
        return Base64.bytes(ofDigits: digits, last: (UInt8(ascii: "-"), UInt8(ascii: "_")))
    }
}
