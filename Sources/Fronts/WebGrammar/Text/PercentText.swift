import ImageModel

/// Percent-encoded text of a path as bytes (RFC 3986, section 2.1).
enum PercentText {
    /// Throws where a percent sign is not followed by two hexadecimal digits.
    static func bytes(_ text: some StringProtocol, of option: String? = nil) throws(GrammarError)
        -> [UInt8]
    {
        guard let bytes = PercentCoding.decode(text.utf8) else {
            throw GrammarError(
                .malformed, "a % is not followed by two hexadecimal digits: write it as %25",
                option: option)
        }
        return bytes
    }

    /// The URL of a source as a part of a path in which it is decoded once: what ends a path, or
    /// means something else there, is encoded.
    static func source(_ url: String) -> String {
        PercentCoding.encode(url.utf8) { (0x21...0x7E).contains($0) && !ending.contains($0) }
    }

    private static let ending = Set("%?#@\"<>\\^`{|}".utf8)

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
}
