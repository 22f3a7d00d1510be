public import ImageModel

/// Which URLs: `https://*.example.com/avatars/*`.
///
/// `*` stands for any text within the part where it is: scheme, host with port, or what follows, so
/// that no path passes for a host. Scheme and host have no case, the rest has. A port that is the
/// scheme's own may be left out on either side. Paths are compared as the loader sends them:
/// without `.` and `..`. Without a path a pattern means all of them; `*` alone means every URL.
public struct URLPattern: Hashable, Sendable {
    /// As it was written.
    public let text: String
    private let scheme: Glob
    private let authority: Glob
    private let rest: Glob

    /// Bytes of a pattern.
    public static let bytesMax = 1_024

    /// `nil` for what is no pattern: too long, with spaces, user info or a fragment, or without a
    /// scheme or host, which `file:///photos/*` has none of. `data:*` means all that have no parts.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.bytesMax,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { return nil }
        self.text = text
        if text == "*" {
            (scheme, authority, rest) = (Glob("*"), Glob("*"), Glob("*"))
            return
        }
        if text.lowercased() == "data:*" {
            (scheme, authority, rest) = (Glob("data"), Glob("*"), Glob("*"))
            return
        }
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        let behind = text[mark.upperBound...]
        let end = behind.firstIndex { $0 == "/" || $0 == "?" } ?? behind.endIndex
        let authority = behind[..<end].lowercased()
        guard !scheme.isEmpty, !authority.isEmpty || ["file", "local"].contains(scheme),
            !authority.contains("@")
        else { return nil }
        self.scheme = Glob(scheme)
        self.authority = Glob(URLTarget.withoutOwnPort(authority, of: scheme))
        rest = Glob(end == behind.endIndex ? "/*" : String(behind[end...]))
    }

    /// Whether an allow-list of patterns has a URL.
    public static func permits(_ url: SourceURL, _ patterns: [URLPattern]) -> Bool {
        permits(URLTarget(url), patterns)
    }

    /// The same of a URL that was taken apart before.
    static func permits(_ target: URLTarget, _ patterns: [URLPattern]) -> Bool {
        target.isPlain && patterns.contains { $0.matches(target) }
    }

    /// The host with its port, where the pattern is of one https host; `nil`: of several, or of
    /// other schemes.
    public var secureHost: String? {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        let host = text.dropFirst(scheme.count).prefix { !"/?".contains($0) }.lowercased()
        return host.isEmpty || host.contains("*") ? nil : host
    }

    /// Whether a URL is meant.
    func matches(_ target: URLTarget) -> Bool {
        scheme.matches(target.scheme.utf8) && authority.matches(target.authority.utf8)
            && rest.matches(target.rest.utf8)
    }
}

/// A URL in the parts that patterns are compared with.
struct URLTarget {
    /// Lower case.
    let scheme: String
    /// Host and port in lower case, without user info and without the scheme's own port.
    let authority: String
    /// Path without dot segments, and query.
    let rest: String
    /// Whether the host is written as hosts are; such a URL may be let through, others may not.
    let isPlain: Bool

    init(_ url: SourceURL) {
        scheme = url.scheme
        let text = url.withoutUserInfo
        guard text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8) else {
            // Without an authority it has no parts that could be compared.
            (authority, rest, isPlain) = ("", "/", true)
            return
        }
        let behind = text[text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 3)...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        authority = Self.withoutOwnPort(behind[..<end].lowercased(), of: scheme)
        let rest = behind[end...].prefix { $0 != "#" }
        let pathEnd = rest.firstIndex(of: "?") ?? rest.endIndex
        self.rest = Self.withoutDotSegments(rest[..<pathEnd]) + rest[pathEnd...]
        isPlain = authority.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5B, 0x5D, 0x5F: true
            default: false
            }
        }
    }

    static func withoutOwnPort(_ authority: String, of scheme: String) -> String {
        let own = ["http": ":80", "https": ":443"][scheme] ?? ":"
        for port in [own, ":"] where authority.hasSuffix(port) {
            return String(authority.dropLast(port.count))
        }
        return authority
    }

    /// RFC 3986 §5.2.4; `%2e` is a dot.
    private static func withoutDotSegments(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch dots(segment) {
            case 0: kept.append(segment)
            case 1: if isLast { kept.append("") }
            default:
                _ = kept.popLast()
                if isLast { kept.append("") }
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// 1 for `.`, 2 for `..`, 0 for anything else.
    private static func dots(_ segment: Substring) -> Int {
        guard segment.utf8.count <= 6, segment.utf8.first.map({ ".%".utf8.contains($0) }) == true
        else { return 0 }
        switch segment.lowercased() {
        case ".", "%2e": return 1
        case "..", ".%2e", "%2e.", "%2e%2e": return 2
        default: return 0
        }
    }
}
