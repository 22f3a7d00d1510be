/// The host of an http or https URL, once host and port were looked at as text: the loader decides
/// what is an address (RFC 3986 §3.2.2, §3.2.3).
struct HostAndPort {
    /// As written, with the brackets of an IPv6 address.
    let host: String

    /// Takes what stands between the user info and the path. Throws `invalidURL`.
    init(_ bytes: ArraySlice<UInt8>) throws(ImageError) {
        let end = try Self.endOfHost(bytes)
        guard end > bytes.startIndex else { throw ImageError(.invalidURL, "the URL has no host") }
        guard Self.isNothingOrPort(bytes[end...]) else {
            throw ImageError(
                .invalidURL, "behind the host of the URL stands no port from 1 to 65535")
        }
        host = String(decoding: bytes[..<end], as: UTF8.self)
    }

    private static func endOfHost(_ bytes: ArraySlice<UInt8>) throws(ImageError) -> Int {
        guard bytes.first == UInt8(ascii: "[") else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard !bytes[..<end].contains(where: isForeign) else {
                throw ImageError(
                    .invalidURL, "the host of the URL has characters that no host has")
            }
            return end
        }
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]")),
            isIPv6(bytes[..<close].dropFirst())
        else {
            throw ImageError(.invalidURL, "the URL has no IPv6 address between brackets")
        }
        return close + 1
    }

    /// What separates the parts of a URL, and what no resolver takes.
    private static func isForeign(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "/", "?", "#", "@", "[", "]", "{", "}", "<", ">", "\\", "^", "`", "|", "\"", "'", "$",
            "*", "=", ";", ",", "!":
            true
        default: false
        }
    }

    /// Digits, colons and dots of an address, and a zone at most (RFC 6874).
    private static func isIPv6(_ bytes: ArraySlice<UInt8>) -> Bool {
        let address = bytes.prefix { $0 != UInt8(ascii: "%") }
        let zone = bytes[address.endIndex...]
        return address.count { $0 == UInt8(ascii: ":") } >= 2
            && address.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
            && zone.count != 1
            && zone.allSatisfy { isLetterOrDigit($0) || "%-._~".utf8.contains($0) }
    }

    /// A colon without a port means that of the scheme.
    private static func isNothingOrPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: ":") else { return bytes.isEmpty }
        let digits = bytes.dropFirst()
        guard !digits.isEmpty else { return true }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(String(decoding: digits, as: UTF8.self))
        else { return false }
        return port > 0
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }
}
