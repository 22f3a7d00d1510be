import ImageModel

/// What a listener makes of the sources that URLs name, whatever its grammar: replacements first,
/// then the base, then the default scheme; the result has to be allowed.
public struct SourceRules: Hashable, Sendable {
    /// The schemes of sources.
    public var schemes = SourceSchemes.usual
    /// The scheme of sources that name none, without `://`; empty: they are refused.
    public var defaultScheme = ""
    /// What stands before sources that do not begin with it.
    public var base = ""
    /// What takes the place of the beginnings of sources, one after the other.
    public var replacements: [SourceReplacement] = []
    /// The sources that may be loaded; `nil`: any.
    public var allowed: [SourcePattern]?

    /// Sources as URLs name them.
    public init() {}

    /// The URL of a source that was decoded once.
    func url(_ source: [UInt8]) throws(GrammarError) -> String {
        guard !source.isEmpty else { return try schemes.url(source) }
        var source = replacements.reduce(source) { $1.applied(to: $0) }
        if !source.starts(with: base.utf8) { source = Array(base.utf8) + source }
        if !Self.namesScheme(source) {
            guard !defaultScheme.isEmpty else {
                throw GrammarError(
                    .malformed, "the source has no scheme: write https:// before it")
            }
            source = Array("\(defaultScheme)://".utf8) + source
        }
        let url = try schemes.url(source)
        try check(url)
        return url
    }

    /// Throws where a URL is not among those allowed.
    func check(_ url: String) throws(GrammarError) {
        guard let allowed, !SourcePattern.permit(allowed, url) else { return }
        throw GrammarError(
            .forbidden,
            "this source is not among the allowed ones: ask the operator to add it to "
                + "--allowed-sources")
    }

    /// Whether a source begins with a scheme; without one it is a host or a path.
    static func namesScheme(_ text: some Collection<UInt8>) -> Bool {
        let scheme = text.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        let rest = text.dropFirst(scheme.count)
        return !scheme.isEmpty
            && (rest.starts(with: "://".utf8)
                || (scheme.elementsEqual("data".utf8) && rest.starts(with: ":".utf8)))
    }
}
