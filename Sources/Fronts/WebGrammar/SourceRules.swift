import Model

/// The rules that a listener applies to source URLs, independent of its grammar: replacements
/// first, then the base, then the default scheme. The result must be allowed.
package struct SourceRules: Hashable, Sendable {
    /// The allowed schemes.
    package var schemes = SourceSchemes.usual
    /// The scheme of sources without one, without `://`; if empty, they are refused.
    package var defaultScheme = ""
    /// A prefix for sources that don't already begin with it.
    package var base = ""
    /// Replacements of prefixes, applied in order.
    package var replacements: [SourceReplacement] = []
    /// The sources that may be loaded; `nil` for any.
    package var allowed: [SourcePattern]?

    /// Creates rules that leave sources unchanged.
    package init() {}

    /// Returns the URL for a source that has been decoded once.
    func url(_ source: [UInt8]) throws(GrammarError) -> String {
        guard !source.isEmpty else { return try schemes.url(source) }
        var source = replacements.reduce(source) { $1.applied(to: $0) }
        if !source.starts(with: base.utf8) { source = Array(base.utf8) + source }
        if !Self.namesScheme(source) {
            try require(!defaultScheme.isEmpty, "the source has no scheme: put https:// before it")
            source = Array("\(defaultScheme)://".utf8) + source
        }
        let url = try schemes.url(source)
        try check(url)
        return url
    }

    /// Throws if a URL is not allowed.
    func check(_ url: String) throws(GrammarError) {
        guard let allowed, !SourcePattern.permit(allowed, url) else { return }
        throw GrammarError(
            .forbidden,
            "this source is not allowed: ask the operator to add it to "
                + "--allowed-sources")
    }

    /// Whether a source begins with a scheme; otherwise it is a host or a path.
    static func namesScheme(_ text: some Collection<UInt8>) -> Bool {
        let scheme = text.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        let rest = text.dropFirst(scheme.count)
        return !scheme.isEmpty
            && (rest.starts(with: "://".utf8)
                || (scheme.elementsEqual("data".utf8) && rest.starts(with: ":".utf8)))
    }
}

/// The schemes that a grammar accepts. The stack decides whether an address may be connected to.
package struct SourceSchemes: Hashable, Sendable {
    /// The accepted schemes, in lowercase.
    package let names: Set<String>

    /// The schemes of the stack's built-in loaders.
    package static let usual = SourceSchemes(["http", "https", "s3", "gs", "data", "file", "local"])

    /// Creates a set of exactly these schemes.
    package init(_ names: Set<String>) { self.names = Set(names.map { $0.lowercased() }) }

    /// Returns the set with additional schemes, such as that of a loader `photos` added by the
    /// operator.
    package func adding(_ others: [String]) -> SourceSchemes {
        SourceSchemes(names.union(others))
    }

    /// Returns the URL for bytes that have been decoded once: an internationalized host is
    /// converted to ASCII, characters not allowed in URLs are encoded, and everything else is
    /// unchanged.
    func url(_ bytes: [UInt8]) throws(GrammarError) -> String {
        let text = try Self.anyURL(bytes)
        let scheme = text.prefix { $0 != ":" }.lowercased()
        try require(
            names.contains(scheme),
            "the scheme '\(scheme.prefix(20))' of the source URL is not supported")
        return text
    }

    /// Returns the URL in the same way, but accepts any scheme.
    package static func anyURL(_ bytes: [UInt8]) throws(GrammarError) -> String {
        try require(!bytes.isEmpty, "the source URL is empty")
        try require(
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            "the source URL contains control characters")
        let text = PercentCoding.encode(withCodes(try HostName.ascii(hostOf: bytes))) {
            (0x21...0x7E).contains($0) && !excluded.contains($0)
        }
        do throws(ImageError) {
            _ = try SourceURL(text)
        } catch {
            throw .malformed("invalid source URL: \(error.message)")
        }
        return text
    }

    /// Visible characters that are not allowed in URLs (RFC 3986, appendix A).
    private static let excluded = Set("\"<>\\^`{|}".utf8)

    /// Encodes percent signs that don't begin a valid escape.
    private static func withCodes(_ bytes: [UInt8]) -> [UInt8] {
        let percent = UInt8(ascii: "%")
        guard bytes.contains(percent) else { return bytes }
        return bytes.indices.flatMap { index in
            let code = bytes[(index + 1)...].prefix(2)
            let isCode =
                code.count == 2
                && code.allSatisfy { Character(UnicodeScalar($0)).hexDigitValue != nil }
            return bytes[index] == percent && !isCode ? Array("%25".utf8) : [bytes[index]]
        }
    }
}

/// A prefix of sources that may be loaded (imgproxy's `IMGPROXY_ALLOWED_SOURCES`).
///
/// Scheme and host are case-insensitive. A host is compared as a whole, so `https://example.com`
/// doesn't permit `https://example.com.evil.org/`. Redirects are checked by the stack, according to
/// `sources` in its configuration.
package struct SourcePattern: Hashable, Sendable {
    private let wildcards: SourceWildcards

    /// The maximum number of patterns per listener.
    package static let countMax = 256

    /// Parses a pattern such as `s3://bucket/` or `https://*.example.com/`; `*` matches any text
    /// without a slash. Returns `nil` for a text without a scheme.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://"), mark.lowerBound != text.startIndex else {
            guard text.hasSuffix(":"), text.count > 1 else { return nil }
            wildcards = SourceWildcards(text.lowercased())
            return
        }
        let behind = text[mark.upperBound...]
        guard !behind.isEmpty else {
            wildcards = SourceWildcards(text.lowercased())
            return
        }
        let end = behind.firstIndex(of: "/") ?? behind.endIndex
        let path = end == behind.endIndex ? "/" : String(behind[end...])
        wildcards = SourceWildcards(Self.ascii(text[..<end]).lowercased() + path)
    }

    /// Returns scheme and host with internationalized labels in ASCII. An invalid host is kept and
    /// matches no URL.
    private static func ascii(_ beginning: Substring) -> String {
        let bytes = try? HostName.ascii(hostOf: Array(beginning.utf8))
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? String(beginning)
    }

    /// Parses a comma-separated list. Throws for a pattern without a scheme.
    package static func list(_ text: String) throws(GrammarError) -> [SourcePattern] {
        var list: [SourcePattern] = []
        for item in text.split(separator: ",") {
            let item = String(item.trimmedOfBlanks)
            guard let pattern = SourcePattern(item) else {
                throw .malformed(
                    "'\(item.prefix(60))' is not a URL prefix, such as "
                        + "https://*.example.com/ or s3://bucket/")
            }
            list.append(pattern)
        }
        try require((1...countMax).contains(list.count), "expected 1 to \(countMax) sources")
        return list
    }

    /// Whether a URL matches one of the patterns. URLs that parsers may interpret differently, such
    /// as those with dot segments or backslashes, never match.
    package static func permit(_ patterns: [SourcePattern], _ url: String) -> Bool {
        guard let source = try? SourceURL(url) else { return false }
        let text = source.withoutUserInfo
        guard !hasDots(text) else { return false }
        guard let mark = text.firstRange(of: "://") else {
            let bytes = Array(text.utf8)
            return patterns.contains { $0.wildcards.match(startOf: bytes) != nil }
        }
        let end =
            text[mark.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let authority = text[..<end].lowercased()
        // A wildcard in the host must not match into the query.
        let rest = text[end...].hasPrefix("/") ? String(text[end...]) : "/\(text[end...])"
        let bytes = Array((authority + rest).utf8)
        return patterns.contains { $0.wildcards.match(startOf: bytes) != nil }
    }

    private static func hasDots(_ text: String) -> Bool {
        let path = text.drop { $0 != "/" }.prefix { $0 != "?" && $0 != "#" }
        return path.contains("\\") || PathReading.isUnreadable(path)
            || PathReading.hasDotSegments(path)
    }
}

/// A replacement of a source prefix (imgproxy's `IMGPROXY_URL_REPLACEMENTS`).
package struct SourceReplacement: Hashable, Sendable {
    private let pattern: SourceWildcards
    private let parts: [Part]

    private enum Part: Hashable {
        case text([UInt8])
        /// The text matched by the wildcard with this index.
        case wildcard(Int)
    }

    /// The maximum number of replacements per listener.
    package static let countMax = 64

    /// Parses `PATTERN=REPLACEMENT`: `*` in the pattern matches any text without a slash, and
    /// `${1}` in the replacement refers to the first match. Returns `nil` for other texts.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        pattern = SourceWildcards(String(text[..<equals]))
        var (parts, rest) = ([Part](), text[text.index(after: equals)...])
        while let start = rest.firstRange(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}"),
                let number = Int(rest[start.upperBound..<end]),
                (1...max(1, pattern.count)).contains(number), pattern.count > 0
            else { return nil }
            parts.append(.text(Array(rest[..<start.lowerBound].utf8)))
            parts.append(.wildcard(number - 1))
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts + [.text(Array(rest.utf8))]
    }

    /// Parses a semicolon-separated list. Throws for anything but `PATTERN=REPLACEMENT`.
    package static func list(_ text: String) throws(GrammarError) -> [SourceReplacement] {
        var list: [SourceReplacement] = []
        for item in text.split(separator: ";") {
            guard let one = SourceReplacement(String(item.trimmedOfBlanks)) else {
                throw .malformed(
                    "'\(item.prefix(60))' is not PATTERN=REPLACEMENT, such as "
                        + "mys3://=s3://bucket/images/; ${1} is the text matched by the first * of "
                        + "the pattern")
            }
            list.append(one)
        }
        try require(list.count <= countMax, "at most \(countMax) replacements are allowed")
        return list
    }

    func applied(to source: [UInt8]) -> [UInt8] {
        guard let match = pattern.match(startOf: source) else { return source }
        var result: [UInt8] = []
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .wildcard(let place): result += match.wildcards[place]
            }
        }
        return result + source[match.end...]
    }
}

/// A pattern in which each `*` matches any text without a slash.
struct SourceWildcards: Hashable, Sendable {
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    /// The number of wildcards.
    var count: Int { parts.count - 1 }

    struct Match {
        /// The text that each wildcard matched.
        var wildcards: [ArraySlice<UInt8>] = []
        /// Where the remaining text begins.
        var end: Int
    }

    /// Matches the beginning of a text; each wildcard matches as much as possible.
    func match(startOf text: [UInt8]) -> Match? {
        guard let first = parts.first, text.starts(with: first) else { return nil }
        var budget = Self.stepsMax
        return match(wildcard: 0, at: first.count, of: text, &budget)
    }

    /// Matches a text from `start` on with a wildcard and everything after it.
    private func match(
        wildcard place: Int, at start: Int, of text: [UInt8], _ budget: inout Int
    ) -> Match? {
        guard place < count else { return Match(end: start) }
        let part = parts[place + 1]
        let limit = text[start...].firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        for end in (start...limit).reversed() where budget > 0 {
            budget -= 1
            guard text[end...].starts(with: part),
                var match = match(wildcard: place + 1, at: end + part.count, of: text, &budget)
            else { continue }
            match.wildcards.insert(text[start..<end], at: 0)
            return match
        }
        return nil
    }

    /// The maximum number of comparisons, which bounds the time for any text.
    private static let stepsMax = 1 << 20
}
