/// A URL pattern such as `https://*.example.com/avatars/*`.
///
/// `*` matches any text within one component: the scheme, the host with port, or the rest. A path
/// can therefore never match as a host. Scheme and host are case-insensitive, the rest is
/// case-sensitive. The scheme's default port is optional on both sides. Paths are compared after
/// removing `.` and `..`, in every way in which an origin may interpret them (`PathReading`); a
/// pattern matches a URL only if it matches all of these readings. A pattern without a path matches
/// every path; `*` alone matches every URL.
public struct URLPattern: Hashable, Sendable {
    /// The text from which the pattern was created.
    public let text: String
    private let scheme: Glob
    private let authority: Glob
    /// The pattern of path and query for each form of `PathReading`.
    private let rests: [PathReading.Form: Glob]

    /// The largest length of a pattern in bytes.
    public static let bytesMax = 1_024

    /// Creates a pattern. Returns `nil` if the text is too long, contains spaces, user info or a
    /// fragment, or lacks a scheme or host. `file:` and `local:` patterns such as
    /// `file:///photos/*` need no host. `data:*` matches all data URLs, which have no components.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.bytesMax,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { return nil }
        self.text = text
        if text == "*" {
            (scheme, authority, rests) = (Glob("*"), Glob("*"), Self.rests("*"))
            return
        }
        if text.lowercased() == "data:*" {
            (scheme, authority, rests) = (Glob("data"), Glob("*"), Self.rests("*"))
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
        rests = Self.rests(end == behind.endIndex ? "/*" : behind[end...])
    }

    private static func rests(_ text: Substring) -> [PathReading.Form: Glob] {
        let path = text.prefix { $0 != "?" }
        return Dictionary(
            uniqueKeysWithValues: PathReading.Form.allCases.map {
                ($0, Glob($0.applied(to: path) + text[path.endIndex...]))
            })
    }

    /// Whether a URL matches a pattern of an allow-list.
    public static func permits(_ url: SourceURL, _ patterns: [URLPattern]) -> Bool {
        permits(URLTarget(url), patterns)
    }

    /// Whether a parsed URL matches a pattern of an allow-list.
    static func permits(_ target: URLTarget, _ patterns: [URLPattern]) -> Bool {
        target.isPlain && patterns.contains { $0.matches(target) }
    }

    /// The host with its port if the pattern matches exactly one https host; otherwise `nil`.
    public var secureHost: String? {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        let host = text.dropFirst(scheme.count).prefix { !"/?".contains($0) }.lowercased()
        return host.isEmpty || host.contains("*") ? nil : host
    }

    /// Whether the pattern matches a URL in all readings of its path.
    func matches(_ target: URLTarget) -> Bool {
        isOfPlace(target) && target.rests.allSatisfy(matches)
    }

    /// Whether the match depends on how the origin interprets the path.
    func isAmbiguous(_ target: URLTarget) -> Bool {
        target.rests.count > 1 && isOfPlace(target) && target.rests.contains(where: matches)
            && !target.rests.allSatisfy(matches)
    }

    private func isOfPlace(_ target: URLTarget) -> Bool {
        scheme.matches(target.scheme.utf8) && authority.matches(target.authority.utf8)
    }

    private func matches(_ rest: URLTarget.Rest) -> Bool {
        rests[rest.form]?.matches(rest.text.utf8) ?? false
    }
}

/// A URL, split into the components that patterns are matched against.
struct URLTarget {
    /// The scheme in lowercase.
    let scheme: String
    /// Host and port in lowercase, without user info and without the scheme's default port.
    let authority: String
    /// Path and query, one per way in which an origin may interpret the path.
    let rests: [Rest]
    /// Whether host and path have a regular spelling. Only such URLs can match an allow-list.
    let isPlain: Bool

    /// One reading of the path, with the query.
    struct Rest {
        let text: String
        let form: PathReading.Form
    }

    init(_ url: SourceURL) {
        scheme = url.scheme
        let text = url.withoutUserInfo
        guard text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8) else {
            // A URL without an authority has no components to compare.
            (authority, rests, isPlain) = ("", [Rest(text: "/", form: .written)], true)
            return
        }
        let behind = text[text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 3)...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        authority = Self.withoutOwnPort(behind[..<end].lowercased(), of: scheme)
        let rest = behind[end...].prefix { $0 != "#" }
        let pathEnd = rest.firstIndex(of: "?") ?? rest.endIndex
        rests = PathReading.all(of: rest[..<pathEnd]).map {
            Rest(text: $0.path + rest[pathEnd...], form: $0.form)
        }
        isPlain =
            !PathReading.isUnreadable(rest[..<pathEnd])
            && authority.utf8.allSatisfy {
                $0.isLowercaseLetter || $0.isDigit || "-.:[]_".utf8.contains($0)
            }
    }

    static func withoutOwnPort(_ authority: String, of scheme: String) -> String {
        let own = ["http": ":80", "https": ":443"][scheme] ?? ":"
        for port in [own, ":"] where authority.hasSuffix(port) {
            return String(authority.dropLast(port.count))
        }
        return authority
    }
}

extension ImageError {
    /// A rule or a loader matches one reading of the path but not another.
    static let ambiguousPath = ImageError(
        .invalidURL,
        "the path of this URL is ambiguous, and the configuration applies to only some of its "
            + "readings: remove encoded slashes, '//', backslashes and '..;'")
}

/// A text in which `*` matches any sequence of bytes, including the empty one. Matching takes time
/// linear in the lengths of text and pattern.
struct Glob: Hashable, Sendable {
    private let segments: [Segment]

    /// The bytes between two `*`, with the failure table of Knuth, Morris and Pratt.
    private struct Segment: Hashable, Sendable {
        let bytes: [UInt8]
        let borders: [Int]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var borders = [Int](repeating: 0, count: bytes.count)
            var length = 0
            for index in bytes.indices.dropFirst() {
                while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
                if bytes[index] == bytes[length] { length += 1 }
                borders[index] = length
            }
            self.borders = borders
        }

        /// Returns the end index of the first occurrence in `text`.
        func firstEnd(in text: ArraySlice<UInt8>) -> Int? {
            if bytes.isEmpty { return text.startIndex }
            var length = 0
            for index in text.indices {
                while length > 0, text[index] != bytes[length] { length = borders[length - 1] }
                if text[index] == bytes[length] { length += 1 }
                if length == bytes.count { return index + 1 }
            }
            return nil
        }
    }

    init(_ text: String) {
        segments = Array(text.utf8).split(
            separator: UInt8(ascii: "*"), omittingEmptySubsequences: false
        ).map { Segment(Array($0)) }
    }

    func matches(_ text: some Collection<UInt8>) -> Bool {
        let bytes = Array(text)
        guard let first = segments.first, let last = segments.last else { return bytes.isEmpty }
        guard segments.count > 1 else { return bytes == first.bytes }
        guard bytes.count >= first.bytes.count + last.bytes.count,
            bytes.starts(with: first.bytes), bytes.suffix(last.bytes.count) == last.bytes[...]
        else { return false }
        var rest = bytes[first.bytes.count..<(bytes.count - last.bytes.count)]
        for segment in segments.dropFirst().dropLast() {
            guard let end = segment.firstEnd(in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }
}
