/// Base64 (RFC 4648 §4), as ThumbHashes and digests are passed on.
public enum Base64Text {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text of some bytes.
    public static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start...].prefix(3)
            let bits = (0..<3).reduce(0) { bits, place in
                bits << 8 | (place < part.count ? Int(part[start + place]) : 0)
            }
            for place in 0..<4 {
                text.append(
                    place > part.count
                        ? UInt8(ascii: "=") : letters[bits >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
