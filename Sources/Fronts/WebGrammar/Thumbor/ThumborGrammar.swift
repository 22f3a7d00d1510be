import ImageModel
import Nettle

/// thumbor's URLs: `/SIGNATURE/trim/AxB:CxD/fit-in/WxH/ALIGN/smart/filters:…/URL`
/// (`Proto/WEB.md`).
public struct ThumborGrammar: URLGrammar {
    /// What is the same for every URL.
    public struct Settings: Hashable, Sendable {
        /// Keys, any of which may have signed; they have no salt.
        public var keys: [SigningKey] = []
        /// Whether `unsafe` stands for a signature.
        public var permitsUnsigned = false
        /// What becomes of the sources that URLs name; without a scheme they have http.
        public var sources = SourceRules()

        /// Nobody may ask for anything.
        public init() { sources.defaultScheme = "http" }
    }

    private let settings: Settings
    private let signature: PathSignature

    /// Throws for a key with a salt.
    public init(_ settings: Settings) throws(GrammarError) {
        guard settings.keys.allSatisfy(\.salt.isEmpty) else {
            throw GrammarError(.malformed, "thumbor's keys have no salt: leave it out")
        }
        self.settings = settings
        signature = PathSignature(
            algorithm: .sha1, keys: settings.keys, byteCount: HMAC.sha1.byteCount)
    }

    /// What a target wants; see `URLGrammar`.
    public func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let path = try RequestTarget.path(of: target)
        let parts = try ThumborPath(RequestTarget.text(of: signedPart(of: path)))
        var plan = ThumborPlan(parts)
        for filter in parts.filters where filter.filter.isEarly {
            try filter.filter.take(&plan, filter.arguments)
        }
        try plan.beginWithSize()
        for filter in parts.filters where !filter.filter.isEarly {
            try filter.filter.take(&plan, filter.arguments)
        }
        let request = try plan.request(for: url(of: parts.source))
        for overlay in request.image.overlays { try settings.sources.check(overlay.url) }
        return request
    }

    /// The source behind the options; see `URLGrammar`.
    public func path(options: String, source: String) -> String {
        (options.isEmpty ? "" : "\(options)/") + PercentText.source(source)
    }

    /// Signed without the slash before it, with the padding that thumbor's has; see `URLGrammar`.
    public func target(ofPath path: String) throws(GrammarError) -> String {
        if let text = signature.text(for: Array(path.utf8)) {
            let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            return "/\(text)\(padding)/\(path)"
        }
        guard settings.permitsUnsigned else { throw .notSigned(signature) }
        return "/unsafe/\(path)"
    }

    private func signedPart(of path: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard let (first, rest) = RequestTarget.split(path) else {
            throw GrammarError(.malformed, "the path has no signature and source: /SIGNATURE/…/URL")
        }
        if settings.permitsUnsigned, first.elementsEqual("unsafe".utf8) { return rest }
        // Some clients encode the padding.
        guard let text = try? PercentText.bytes(String(decoding: first, as: UTF8.self)),
            let code = Base64URL.decode(text),
            signature.verifies(code, of: rest)
                || signature.verifies(code, of: ThumborPath.withBrackets(rest))
        else { throw .notSigned(signature) }
        return rest
    }

    /// A source is decoded once. The codes of a `data:` URL are its own.
    private func url(of source: String) throws(GrammarError) -> String {
        let sources = settings.sources
        if source.hasPrefix("data:") { return try sources.url(Array(source.utf8)) }
        let decoded = try PercentText.bytes(source)
        if !SourceRules.namesScheme(decoded), sources.base.isEmpty,
            let slip = ThumborPath.slip(in: source)
        {
            throw slip
        }
        return try sources.url(decoded)
    }
}
