import ImageModel

/// RFC 4648, section 5, with or without padding.
enum Base64URL {
    /// The text of bytes, without padding.
    static func encode(_ bytes: [UInt8]) -> String {
        Base64Text.text(bytes).replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
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
