import ImageModel
package import WebGrammar

/// Fields of a request that go along to the origin of its image (imgproxy's
/// `IMGPROXY_REQUEST_HEADERS_PASSTHROUGH`). The coordinator permits them by the profile `web`
/// (SEMANTICS §14.11).
package struct PassedHeaders: Hashable, Sendable {
    /// Names, as the operator writes them.
    private let names: [String]
    /// The sources that get them; `nil`: all.
    private let sources: [SourcePattern]?

    /// Nothing is passed.
    package init() { (names, sources) = ([], nil) }

    /// Names with commas between, and beginnings of the sources that get them. Throws for a field
    /// that is the loader's own, and for one that may say who asks where the sources are not named:
    /// a page of a stranger could have a browser send it to any host.
    package init(names text: String, sources: [SourcePattern]?) throws(GrammarError) {
        var names: [String] = []
        for name in text.split(separator: ",").map({ String($0.trimmedOfBlanks) }) {
            try Self.check(name, isForNamedSources: sources != nil)
            guard !Self.has(name, in: names) else { continue }
            names.append(name)
        }
        guard !names.isEmpty, names.count <= RequestLimits.headersMax else {
            throw GrammarError(
                .malformed, "from 1 to \(RequestLimits.headersMax) names are accepted")
        }
        (self.names, self.sources) = (names, sources)
    }

    private static func check(
        _ name: String, isForNamedSources: Bool
    ) throws(GrammarError) {
        let header = HTTPHeader(name: name, value: "")
        if let reason = header.isValid ? header.refusal : "it is not the name of a header" {
            throw GrammarError(
                .malformed, "'\(name.prefix(60))' cannot be passed on: \(reason)")
        }
        guard isForNamedSources || !header.isCredential else {
            throw GrammarError(
                .malformed,
                "\(name.prefix(60)) may identify a user: name the sources that get it with "
                    + "--pass-headers-to, such as https://*.example.com/")
        }
    }

    /// Whether a field is among them, in any case.
    package func has(_ name: String) -> Bool { Self.has(name, in: names) }

    private static func has(_ name: String, in names: [String]) -> Bool {
        names.contains { $0.lowercased() == name.lowercased() }
    }

    /// The names whose fields the source of this URL gets.
    func names(for url: String) -> [String] {
        guard let sources, !SourcePattern.permit(sources, url) else { return names }
        return []
    }
}

extension RequestPlan {
    /// The origin gets these fields of the request, and the answer depends on them. Throws for a
    /// value that is not UTF-8: it could not be passed on as it is, nor be told from others.
    mutating func take(
        _ passed: PassedHeaders, of field: (String) -> String?
    ) throws(GrammarError) {
        for name in passed.names(for: request.image.url) {
            varies.append(name)
            guard let value = field(name) else { continue }
            guard !value.unicodeScalars.contains("\u{FFFD}") else {
                throw GrammarError(
                    .malformed, "the header \(name) is not UTF-8 and cannot be passed on")
            }
            request.image.headers.append(HTTPHeader(name: name, value: value))
        }
    }
}
