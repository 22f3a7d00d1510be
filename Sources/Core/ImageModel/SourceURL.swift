/// A URL taken apart far enough for policy and keys; nothing is decoded or normalised, since the
/// text is the key (SEMANTICS §4.1). RFC 3986 §3.
public struct SourceURL: Hashable, Sendable {
    /// Lower case, without the colon.
    public let scheme: String
    /// Before the `@` of the authority; never in keys, logs or status.
    public let userInfo: String?
    /// As written, with the brackets of an IPv6 address, without the port.
    public let host: String
    /// The whole text without user info.
    public let withoutUserInfo: String

    /// Throws `invalidURL` for an empty or overlong text, white space or control characters, a
    /// missing scheme, and an http or https URL without a host or with something else than a host
    /// and a port.
    public init(_ text: String) throws(ImageError) {
        let bytes = Array(text.utf8)
        try Self.checkText(bytes)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            Self.isScheme(bytes[..<colon])
        else { throw ImageError(.invalidURL, "the URL has no scheme, such as https://") }
        scheme = Self.lowerCase(bytes[..<colon])
        let isWeb = scheme == "http" || scheme == "https"
        guard bytes[(colon + 1)...].starts(with: "//".utf8) else {
            if isWeb { throw ImageError(.invalidURL, "the URL has no host") }
            (userInfo, host, withoutUserInfo) = (nil, "", text)
            return
        }
        let start = colon + 3
        let end = bytes[start...].firstIndex(where: Self.endsAuthority) ?? bytes.endIndex
        let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
        let hostStart = at.map { $0 + 1 } ?? start
        userInfo = at.map { String(decoding: bytes[start..<$0], as: UTF8.self) }
        let place = bytes[hostStart..<end]
        host = isWeb ? try HostAndPort(place).host : Self.hostWithoutPort(place)
        withoutUserInfo =
            at == nil
            ? text : String(decoding: bytes[..<start] + bytes[hostStart...], as: UTF8.self)
    }

    private static func checkText(_ bytes: [UInt8]) throws(ImageError) {
        guard !bytes.isEmpty else { throw ImageError(.invalidURL, "Image url is nil") }
        guard bytes.count <= RequestLimits.urlBytesMax else {
            throw ImageError(
                .invalidURL,
                "the URL has \(bytes.count) bytes, at most "
                    + "\(RequestLimits.urlBytesMax) are accepted")
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ImageError(.invalidURL, "the URL contains white space or control characters")
        }
    }

    /// What logs and status may show of it: scheme, host, port and path. Queries are often signed
    /// or carry keys; and what has no authority, such as `data:`, is nothing but content.
    public var forLogs: String {
        let text = withoutUserInfo
        guard hasAuthority else { return "\(scheme):" }
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end.map { String(text[..<$0]) } ?? text
    }

    /// Bytes beyond ASCII as `%C3`; the rest, percent signs included, stays as it is.
    public static func percentEncodingNonASCII(_ text: String) -> String {
        guard text.hasByte(where: { $0 >= 0x80 }) else { return text }
        return PercentCoding.encode(text.utf8) { $0 < 0x80 }
    }

    /// Whether some bytes are a scheme (RFC 3986, section 3.1).
    package static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy {
            isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+")
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
    }

    private static func lowerCase(_ scheme: ArraySlice<UInt8>) -> String {
        let text = String(decoding: scheme, as: UTF8.self)
        return scheme.contains { (0x41...0x5A).contains($0) } ? text.lowercased() : text
    }

    static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func hostWithoutPort(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.first == UInt8(ascii: "["), let close = bytes.firstIndex(of: UInt8(ascii: "]")) {
            return String(decoding: bytes[...close], as: UTF8.self)
        }
        let end = bytes.lastIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
