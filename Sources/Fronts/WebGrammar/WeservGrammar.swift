import Model

/// URLs of the service images.weserv.nl: `/?url=HOST/PATH&w=300&fit=cover&…` (`Proto/WEB.md`).
package struct WeservGrammar: URLGrammar {
    /// The settings that apply to every URL.
    package struct Settings: Hashable, Sendable {
        /// Whether URLs are accepted, which are never signed.
        package var permitsUnsigned = false
        /// The rules for source URLs; the default scheme is http.
        package var sources = SourceRules()

        /// Creates settings that accept no URLs.
        package init() { sources.defaultScheme = "http" }
    }

    private let settings: Settings

    /// Creates a grammar.
    package init(_ settings: Settings) { self.settings = settings }

    /// See `URLGrammar`.
    package var queryOptions: Set<String> { WeservOption.names }

    /// Parses a request target, whose options are its query; see `URLGrammar`.
    package func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        try checkPermission()
        let query = try RequestTarget.query(of: target)
        let parameters = try RequestTarget.text(of: query).split("&").filter { !$0.isEmpty }
        try require(
            parameters.count <= GrammarLimits.optionsMax,
            "at most \(GrammarLimits.optionsMax) parameters are allowed")
        var options = WeservOptions()
        for parameter in parameters { try options.apply(parameter) }
        return try options.request(for: url(of: options.source))
    }

    /// Returns the query; see `URLGrammar`.
    package func path(options: String, source: String) -> String {
        let source = PercentCoding.encode(source.utf8) {
            $0.isUnreserved || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":")
        }
        return "?url=\(source)" + (options.isEmpty ? "" : "&\(options)")
    }

    /// Returns the target for a query; see `URLGrammar`.
    package func target(ofPath path: String) throws(GrammarError) -> String {
        try checkPermission()
        return "/\(path)"
    }

    private func checkPermission() throws(GrammarError) {
        guard settings.permitsUnsigned else {
            throw GrammarError(
                .signature,
                "weserv URLs cannot be signed: the operator of this server must allow unsigned "
                    + "ones (--unsigned)")
        }
    }

    private func url(of source: String?) throws(GrammarError) -> String {
        guard let source, !source.isEmpty else {
            throw .malformed("url", "the source is missing: add url=HOST/PATH")
        }
        return try settings.sources.url(Self.withScheme(PercentText.bytes(source, of: "url")))
    }

    /// Replaces weserv's short forms of `https://`.
    private static func withScheme(_ source: [UInt8]) -> [UInt8] {
        for form in ["ssl:", "//"] where source.starts(with: form.utf8) {
            let host = source.dropFirst(form.utf8.count).drop { $0 == UInt8(ascii: "/") }
            return Array("https://".utf8) + host
        }
        return source
    }
}
