/// A URL parsed as far as policy and keys require; nothing is decoded or normalized, since the text
/// is the key (SEMANTICS §4.1). RFC 3986 §3.
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
    /// missing scheme, and an http or https URL with no host or an invalid authority.
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
        guard !bytes.isEmpty else { throw ImageError(.invalidURL, "the URL is empty") }
        guard bytes.count <= RequestLimits.urlBytesMax else {
            throw ImageError(
                .invalidURL,
                "the URL has \(bytes.count) bytes; at most "
                    + "\(RequestLimits.urlBytesMax) are accepted")
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ImageError(.invalidURL, "the URL contains whitespace or control characters")
        }
    }

    /// The part that logs and status may show: scheme, host, port and path. Queries are often
    /// signed or contain keys, and a URL without an authority, such as `data:`, consists only of
    /// content.
    public var forLogs: String {
        let text = withoutUserInfo
        guard hasAuthority else { return "\(scheme):" }
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end.map { String(text[..<$0]) } ?? text
    }

    /// Returns the text with non-ASCII bytes percent-encoded (`%C3`); the rest, including percent
    /// signs, is unchanged.
    public static func percentEncodingNonASCII(_ text: String) -> String {
        guard text.hasByte(where: { $0 >= 0x80 }) else { return text }
        return PercentCoding.encode(text.utf8) { $0 < 0x80 }
    }

    /// Returns whether the bytes are a valid scheme (RFC 3986, section 3.1).
    package static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, first.isLetter else { return false }
        return bytes.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }

    private static func lowerCase(_ scheme: ArraySlice<UInt8>) -> String {
        let text = String(decoding: scheme, as: UTF8.self)
        return scheme.contains { (0x41...0x5A).contains($0) } ? text.lowercased() : text
    }

    static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func hostWithoutPort(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.first == UInt8(ascii: "["), let close = bytes.firstIndex(of: UInt8(ascii: "]")) {
            return String(decoding: bytes[...close], as: UTF8.self)
        }
        let end = bytes.lastIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

extension SourceURL {
    /// Returns whether scheme, host and port are equal (RFC 6454 §4).
    public func hasSameOrigin(as other: SourceURL) -> Bool {
        (scheme, authority) == (other.scheme, other.authority)
    }

    /// Host and port in lower case, such as `example.org:443`; the default port of http and https
    /// is added if the text omits it. Empty if there is no host. RFC 3986 §3.2.
    public var authority: String {
        guard !host.isEmpty else { return "" }
        let name = host.lowercased()
        let rest = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 3 + host.utf8.count)
        let end = rest.firstIndex(where: Self.endsAuthority) ?? rest.endIndex
        let port = rest[..<end].drop { $0 == UInt8(ascii: ":") }
        if !port.isEmpty { return "\(name):\(Substring(port))" }
        switch scheme {
        case "http": return "\(name):80"
        case "https": return "\(name):443"
        default: return name
        }
    }
}

extension SourceURL {
    /// The part after the authority; for a URL without one, the part after the colon.
    var afterAuthority: Substring.UTF8View {
        let behind = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 1)
        guard hasAuthority else { return behind }
        return behind.dropFirst(2).drop { !Self.endsAuthority($0) }
    }

    /// The part between `//` and the path, without user info.
    var authorityText: String {
        guard hasAuthority else { return "" }
        let behind = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 3)
        return String(decoding: behind.prefix { !Self.endsAuthority($0) }, as: UTF8.self)
    }

    /// Whether `//` follows the colon.
    var hasAuthority: Bool {
        withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 1).starts(with: "//".utf8)
    }
}

/// The host of an http or https URL with host and port validated as text only; the loader decides
/// what is an address (RFC 3986 §3.2.2, §3.2.3).
struct HostAndPort {
    /// As written, with the brackets of an IPv6 address.
    let host: String

    /// Parses the part between user info and path. Throws `invalidURL`.
    init(_ bytes: ArraySlice<UInt8>) throws(ImageError) {
        let end = try Self.endOfHost(bytes)
        guard end > bytes.startIndex else { throw ImageError(.invalidURL, "the URL has no host") }
        guard Self.isNothingOrPort(bytes[end...]) else {
            throw ImageError(
                .invalidURL, "the port of the URL must be between 1 and 65535")
        }
        host = String(decoding: bytes[..<end], as: UTF8.self)
    }

    private static func endOfHost(_ bytes: ArraySlice<UInt8>) throws(ImageError) -> Int {
        guard bytes.first == UInt8(ascii: "[") else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard !bytes[..<end].contains(where: isForbidden) else {
                throw ImageError(
                    .invalidURL, "the host of the URL contains invalid characters")
            }
            return end
        }
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]")),
            isIPv6(bytes[..<close].dropFirst())
        else {
            throw ImageError(.invalidURL, "the URL has no valid IPv6 address in brackets")
        }
        return close + 1
    }

    /// Returns whether the byte is a URL delimiter or is rejected by resolvers.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "/", "?", "#", "@", "[", "]", "{", "}", "<", ">", "\\", "^", "`", "|", "\"", "'", "$",
            "*", "=", ";", ",", "!":
            true
        default: false
        }
    }

    /// Returns whether the bytes are digits, colons and dots of an address with an optional zone
    /// (RFC 6874).
    private static func isIPv6(_ bytes: ArraySlice<UInt8>) -> Bool {
        let address = bytes.prefix { $0 != UInt8(ascii: "%") }
        let zone = bytes[address.endIndex...]
        return address.count { $0 == UInt8(ascii: ":") } >= 2
            && address.allSatisfy { $0.hexDigitValue != nil || ":.".utf8.contains($0) }
            && zone.count != 1
            && zone.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "%") }
    }

    /// A colon without a port means the default port.
    private static func isNothingOrPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: ":") else { return bytes.isEmpty }
        let digits = bytes.dropFirst()
        guard !digits.isEmpty else { return true }
        guard digits.allSatisfy(\.isDigit),
            let port = UInt16(String(decoding: digits, as: UTF8.self))
        else { return false }
        return port > 0
    }
}

/// One of the ways in which an origin may interpret the path of a URL.
///
/// Some origins decode `%2F` before they resolve dot segments, once or several times, treat
/// backslashes as slashes, merge slashes, or ignore everything after a `;`. A path is permitted
/// only if its pattern permits all of these readings.
package struct PathReading: Hashable, Sendable {
    /// The path with dot segments removed (RFC 3986 §5.2.4).
    package let path: String
    package let form: Form

    /// The transformation applied to a path before dot segments are removed.
    package enum Form: Hashable, Sendable, CaseIterable {
        /// Letters, digits, `-`, `.`, `_` and `~` are decoded, which doesn't change the meaning
        /// (RFC 3986 §6.2.2.2).
        case written
        /// Slashes, backslashes, semicolons and percent signs are decoded as well, and backslashes
        /// become slashes.
        case decoded
        /// The same, with consecutive slashes merged.
        case merged

        /// Returns a text in this form; `*` of patterns is unchanged.
        package func applied(to path: some StringProtocol) -> String {
            switch self {
            case .written: return PathReading.decoded(path, Self.unreserved)
            case .decoded: return PathReading.rounds(of: path).last ?? ""
            case .merged: return PathReading.merged(Form.decoded.applied(to: path))
            }
        }

        private static func unreserved(_ byte: UInt8) -> UInt8? {
            byte.isUnreserved ? byte : nil
        }

        fileprivate static func separating(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): UInt8(ascii: "/")
            case UInt8(ascii: "%"), UInt8(ascii: ";"): byte
            default: unreserved(byte)
            }
        }
    }

    /// The maximum number of times a path is decoded.
    private static let roundsMax = 3

    /// Returns the readings of a path that begins with a slash or is empty: the written form first,
    /// then only those that differ.
    package static func all(of path: some StringProtocol) -> [PathReading] {
        let written = PathReading(path: withoutDotSegments(Form.written.applied(to: path)))
        guard mayDiffer(path) else { return [written] }
        var readings = [written]
        func add(_ text: String, _ form: Form) {
            let reading = PathReading(
                path: withoutDotSegments(text, withParameters: true), form: form)
            if reading.path != written.path, !readings.contains(reading) {
                readings.append(reading)
            }
        }
        for round in rounds(of: path) {
            add(round, .decoded)
            add(merged(round), .merged)
        }
        return readings
    }

    /// Returns whether any reading of a path has dot segments.
    package static func hasDotSegments(_ path: some StringProtocol) -> Bool {
        ([Form.written.applied(to: path)] + rounds(of: path)).contains { text in
            text.split(separator: "/").contains { dots($0.prefix { $0 != ";" }) > 0 }
        }
    }

    /// Returns whether an origin may truncate the path, so that later dot segments mislead, or no
    /// number of decoding rounds resolves it completely. Such a path is never permitted.
    package static func isUnreadable(_ path: some StringProtocol) -> Bool {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return false }
        let last = rounds(of: path).last ?? ""
        let mayEnd = ["%3F", "%23"].contains { last.contains($0) }
        return last.contains("%00") || mayEnd && hasDotSegments(path)
            || decoded(last, Form.separating) != last
    }

    private init(path: String, form: Form = .written) {
        (self.path, self.form) = (path, form)
    }

    private static func mayDiffer(_ path: some StringProtocol) -> Bool {
        path.utf8.contains(where: { #"%\;"#.utf8.contains($0) }) || path.contains("//")
    }

    /// Returns the results of decoding the path once, twice and three times, until nothing is left
    /// to decode.
    private static func rounds(of path: some StringProtocol) -> [String] {
        var rounds = [decoded(path, Form.separating)]
        while rounds.count < roundsMax {
            let next = decoded(rounds[rounds.count - 1], Form.separating)
            if next == rounds[rounds.count - 1] { break }
            rounds.append(next)
        }
        return rounds
    }

    /// `byte` returns the replacement of a byte encoded as `%XX`, or `nil` to leave it encoded. A
    /// backslash is replaced by a slash if an encoded one is.
    private static func decoded(
        _ path: some StringProtocol, _ byte: (UInt8) -> UInt8?
    ) -> String {
        guard path.utf8.contains(where: { #"%\"#.utf8.contains($0) }) else { return String(path) }
        var text: [UInt8] = []
        var rest = Array(path.utf8)[...]
        let slash = byte(UInt8(ascii: "\\")) ?? UInt8(ascii: "\\")
        while let first = rest.popFirst() {
            let code = [first] + rest.prefix(2)
            if first == UInt8(ascii: "%"), let value = PercentCoding.decode(code)?.first {
                text += byte(value).map { [$0] } ?? code.map(upperCase)
                rest = rest.dropFirst(2)
            } else {
                text.append(first == UInt8(ascii: "\\") ? slash : first)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func upperCase(_ digit: UInt8) -> UInt8 {
        (0x61...0x66).contains(digit) ? digit - 0x20 : digit
    }

    private static func merged(_ path: String) -> String {
        var text: [UInt8] = []
        for byte in path.utf8 where byte != UInt8(ascii: "/") || text.last != byte {
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func withoutDotSegments(
        _ path: String, withParameters: Bool = false
    ) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch dots(withParameters ? segment.prefix { $0 != ";" } : segment) {
            case 0: kept.append(segment)
            case 1: if isLast { kept.append("") }
            default:
                _ = kept.popLast()
                if isLast { kept.append("") }
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// Returns 1 for `.`, 2 for `..`, 0 for anything else.
    private static func dots(_ segment: Substring) -> Int {
        switch segment {
        case ".": 1
        case "..": 2
        default: 0
        }
    }
}
