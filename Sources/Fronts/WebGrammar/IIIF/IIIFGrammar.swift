import ImageModel

/// URLs of the IIIF Image API 3.0: `/ID/REGION/SIZE/ROTATION/QUALITY.FORMAT`, `/ID/info.json` and
/// `/ID` (`Proto/WEB.md`).
public struct IIIFGrammar: URLGrammar {
    /// What is the same for every URL.
    public struct Settings: Hashable, Sendable {
        /// What stands before the identifier, such as `iiif/3`, without slashes around it.
        public var prefix = ""
        /// The URL of a source, in which `{id}` stands for the identifier.
        public var source: String
        /// What becomes of the sources that the template gives.
        public var sources = SourceRules()

        /// Sources by that template.
        public init(source: String) { self.source = source }
    }

    private let settings: Settings
    private let template: IIIFTemplate

    /// Throws for a template without `{id}`, or with several.
    public init(_ settings: Settings) throws(GrammarError) {
        template = try IIIFTemplate(settings.source)
        self.settings = settings
    }

    /// What a target wants; see `URLGrammar`.
    public func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let text = try RequestTarget.text(of: RequestTarget.path(of: target))
        let parts = try withoutPrefix(text).split("/")
        let identifier = try PercentText.text(parts[0], of: "identifier")
        let url = try settings.sources.url(template.url(of: identifier))
        var request = WebRequest(ImageRequest(url: url))
        request.identifier = identifier
        switch parts.count {
        case 1:
            request.kind = .redirect(path: "/\(text)/info.json")
        case 2 where parts[1] == "info.json":
            request.kind = .facts
            request.image.infoOnly = true
        case 5:
            try IIIFParameters(Array(parts.dropFirst())).take(into: &request)
        default:
            throw GrammarError(
                .nowhere,
                "the path has \(parts.count) parts behind its prefix: "
                    + "ID/REGION/SIZE/ROTATION/QUALITY.FORMAT has 5; a slash of an ID is %2F")
        }
        return try request.checked()
    }

    /// The identifier before the parameters; without any, that of the whole image as a JPEG. See
    /// `URLGrammar`.
    public func path(options: String, source: String) -> String {
        let parameters = options.isEmpty ? "full/max/0/default.jpg" : options
        let identifier = PercentCoding.encode(source.utf8) { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._~".utf8.contains(byte)
            }
        }
        return (settings.prefix.isEmpty ? "" : "\(settings.prefix)/")
            + "\(identifier)/\(parameters)"
    }

    /// There are no signatures; see `URLGrammar`.
    public func target(ofPath path: String) throws(GrammarError) -> String { "/\(path)" }

    private func withoutPrefix(_ text: String) throws(GrammarError) -> String {
        if settings.prefix.isEmpty { return text }
        guard text.hasPrefix("\(settings.prefix)/") else {
            throw GrammarError(.nowhere, "the path does not begin with \(settings.prefix)/")
        }
        return String(text.dropFirst(settings.prefix.utf8.count + 1))
    }
}

/// Where sources are, by their identifiers.
struct IIIFTemplate: Hashable, Sendable {
    private let start: [UInt8]
    private let end: [UInt8]
    /// Whether the identifier is the URL as a whole.
    private let isWhole: Bool

    init(_ text: String) throws(GrammarError) {
        let parts = text.split("{id}")
        guard parts.count == 2 else {
            throw GrammarError(.malformed, "the template of sources has {id} once")
        }
        (start, end) = (Array(parts[0].utf8), Array(parts[1].utf8))
        isWhole = start.isEmpty && end.isEmpty
    }

    /// The URL of an identifier. As a part of a URL it is one of its path: what ends a path is
    /// encoded, and nothing in it leads out of the place that the template names.
    func url(of identifier: String) throws(GrammarError) -> [UInt8] {
        guard !identifier.isEmpty else {
            throw .malformed("identifier", "it is empty: name an image")
        }
        if isWhole { return Array(identifier.utf8) }
        let segments = identifier.split("/")
        guard !segments.contains(where: { [".", "..", ""].contains($0) }),
            !identifier.contains("\\")
        else {
            throw .malformed("identifier", "it has empty parts or dots between slashes: use a name")
        }
        let path = PercentCoding.encode(identifier.utf8, keeping: Self.isOfPath)
        return start + Array(path.utf8) + end
    }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~/!$&'()*+,;=:@".utf8.contains(byte)
        }
    }
}
