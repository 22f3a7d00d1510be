import ImageModel

/// The beginning of sources that may be loaded (imgproxy's `IMGPROXY_ALLOWED_SOURCES`).
///
/// Scheme and host have no case; a host is compared as a whole, so that `https://example.com` does
/// not permit `https://example.com.evil.org/`. Redirects are the stack's: `sources` of the
/// configuration holds for them, too.
public struct SourcePattern: Hashable, Sendable {
    private let wildcards: SourceWildcards

    /// Patterns of one listener.
    public static let countMax = 256

    /// `s3://bucket/`, `https://*.example.com/`: `*` stands for any text without a slash. `nil` for
    /// a text without a scheme.
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

    /// Scheme and host, whose labels beyond ASCII are those of DNS. What cannot be one permits no
    /// URL.
    private static func ascii(_ beginning: Substring) -> String {
        let bytes = try? HostName.ascii(hostOf: Array(beginning.utf8))
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? String(beginning)
    }

    /// Several, with commas between them. Throws for one without a scheme.
    public static func list(_ text: String) throws(GrammarError) -> [SourcePattern] {
        var list: [SourcePattern] = []
        for item in text.split(separator: ",") {
            let item = String(item.trimmedOfBlanks)
            guard let pattern = SourcePattern(item) else {
                throw GrammarError(
                    .malformed,
                    "'\(item.prefix(60))' is not the beginning of a URL, such as "
                        + "https://*.example.com/ or s3://bucket/")
            }
            list.append(pattern)
        }
        guard (1...countMax).contains(list.count) else {
            throw GrammarError(.malformed, "from 1 to \(countMax) sources are accepted")
        }
        return list
    }

    /// Whether one of the patterns is the beginning of a URL. What two readers may read as two
    /// places, such as dot segments and backslashes, is permitted by none.
    public static func permit(_ patterns: [SourcePattern], _ url: String) -> Bool {
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
        // A wildcard of a host is not to reach into a query.
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
