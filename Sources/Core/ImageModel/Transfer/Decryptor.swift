/// What is undone of a whole body before anybody looks at it (SEMANTICS §10.15).
public enum Decryptor: Hashable, Sendable {
    /// AES-256-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag; the key has 32 bytes.
    case aes256GCM(key: [UInt8])
    /// One or more streams of gzip (RFC 1952).
    case gzip
    /// Base64 (RFC 4648 §4); other characters are left out, as upstream.
    case base64

    /// Bytes of a key.
    public static let keyBytes = 32
    /// Decryptors of a transfer at most.
    public static let countMax = 4

    /// 32 bytes of 64 digits in hex; `nil` for anything else.
    public static func key(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { digit(of: $0) }
        guard digits.count == 2 * keyBytes, text.utf8.count == digits.count else { return nil }
        return (0..<keyBytes).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }

    private static func digit(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension [UInt8] {
    /// Two digits for each byte.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
