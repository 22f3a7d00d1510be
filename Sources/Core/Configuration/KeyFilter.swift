import ImageModel

/// Makes the text of a key of a URL, in this order (SEMANTICS §4.2, cacheKeyFilter).
public struct KeyFilter: Hashable, Sendable {
    /// Parameters of the query that are left out; `*` in a name stands for any text.
    public var dropQuery: [String] = [] { didSet { dropped = dropQuery.map { Glob($0) } } }
    /// What stands in place of host and port.
    public var replaceHost: String?
    /// What comes before the text.
    public var prefix = ""
    /// What comes behind it.
    public var suffix = ""

    /// The names of `dropQuery`, ready to be compared with those of every URL.
    private var dropped: [Glob] = []

    /// Leaves URLs as they are.
    public init() {}

    /// The text for a URL without user info.
    func apply(to url: SourceURL) -> String {
        let text = url.withoutUserInfo
        guard let mark = text.firstRange(of: "://") else { return prefix + text + suffix }
        let behind = text[mark.upperBound...]
        let end = behind.firstIndex { "/?#".contains($0) } ?? behind.endIndex
        let authority = replaceHost ?? String(behind[..<end])
        return prefix + text[..<mark.upperBound] + authority + withoutDropped(behind[end...])
            + suffix
    }

    private func withoutDropped(_ rest: Substring) -> String {
        let fragmentStart = rest.firstIndex(of: "#") ?? rest.endIndex
        guard !dropQuery.isEmpty, let mark = rest[..<fragmentStart].firstIndex(of: "?") else {
            return String(rest)
        }
        let query = rest[rest.index(after: mark)..<fragmentStart]
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { part in
            let name = part.prefix { $0 != "=" }
            return !dropped.contains { $0.matches(name.utf8) }
        }
        let text = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return rest[..<mark] + text + rest[fragmentStart...]
    }
}
