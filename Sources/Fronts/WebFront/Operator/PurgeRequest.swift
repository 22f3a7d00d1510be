import ImageModel
import JSON
import WebGrammar

/// What an operator wants removed, as an HTTP request says it. Pure: no sockets, no clock.
package struct PurgeRequest: Hashable, Sendable {
    /// Which entries are meant.
    package enum Meaning: Hashable, Sendable {
        /// The original of a URL, and all that was made of it.
        case url(String)
        /// Those whose keys begin so.
        case prefix(String)
        /// Those with a tag.
        case tag(String)
    }

    package let meaning: Meaning

    /// Where names and texts are posted.
    static let path = "/-/purge"
    /// The methods that are answered, for `Allow`.
    static let methods = "POST, PURGE"
    /// Before what facts are asked about.
    private static let factsPrefix = "/info/"

    /// Reads the request of an operator: `PURGE` with the target of an image, or `POST /-/purge`
    /// with a `url`, a `prefix` or a `tag` in its query or its body (JSON or a form).
    package init(
        _ head: IncomingRequest, body: [UInt8], _ settings: OperatorSettings
    ) throws(PurgeFault) {
        switch head.method {
        case "PURGE": meaning = .url(try Self.source(of: head, settings))
        case "POST":
            guard head.path == Self.path else { throw .nowhere }
            meaning = try Self.meaning(of: try Self.texts(head, body))
        default: throw .method
        }
    }

    // MARK: - Targets of images

    /// The source of the image that a target stands for, whatever its time and its signature are.
    private static func source(
        of head: IncomingRequest, _ settings: OperatorSettings
    ) throws(PurgeFault) -> String {
        var target = head.target[...]
        for prefix in [settings.pathPrefix, String(factsPrefix.dropLast())]
        where !prefix.isEmpty && target.hasPrefix("\(prefix)/") {
            target = target.dropFirst(prefix.count)
        }
        do throws(GrammarError) {
            return try settings.grammar.read(Array(target.utf8), now: 0).image.url
        } catch {
            throw PurgeFault(error)
        }
    }

    // MARK: - Names and texts

    private static func texts(
        _ head: IncomingRequest, _ body: [UInt8]
    ) throws(PurgeFault) -> [String: String] {
        if body.isEmpty { return try form(head.target.dropFirst(head.path.count + 1)) }
        let type = (head.field("Content-Type") ?? "").prefix { $0 != ";" }.trimmedOfBlanks
            .lowercased()
        switch type {
        case "application/json":
            do throws(JSONError) {
                return try JSONReader.texts(body)
            } catch {
                throw .malformed("the body is not a JSON object of texts: \(error.reason)")
            }
        case "application/x-www-form-urlencoded":
            guard let text = String(validating: body, as: UTF8.self) else {
                throw .malformed("the body is not UTF-8")
            }
            return try form(text[...])
        default:
            throw .malformed(
                "the Content-Type of the body is application/json or "
                    + "application/x-www-form-urlencoded")
        }
    }

    /// `name=value&…`, percent-encoded, with a plus sign for a blank (WHATWG URL standard).
    private static func form(_ text: Substring) throws(PurgeFault) -> [String: String] {
        var texts: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { PercentCoding.decode($0.replacing("+", with: " ").utf8) }
            guard parts.count == 2, let name = parts[0].flatMap(decoded),
                let value = parts[1].flatMap(decoded), texts[name] == nil
            else {
                throw .malformed("'\(pair.prefix(60))' is not NAME=VALUE, or is there twice")
            }
            texts[name] = value
        }
        return texts
    }

    private static func decoded(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self)
    }

    private static func meaning(of texts: [String: String]) throws(PurgeFault) -> Meaning {
        guard texts.count == 1, let (name, text) = texts.first else { throw .names }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed("'\(name.prefix(20))' is empty or has control characters")
        }
        switch name {
        case "url": return .url(try url(text))
        case "prefix": return .prefix(try prefix(text))
        case "tag":
            guard CacheTag.isTag(text) else {
                throw .malformed("'\(text.prefix(60))' is not a tag: \(CacheTag.expected)")
            }
            return .tag(text)
        default: throw .names
        }
    }

    /// As sources are written in keys.
    private static func url(_ text: String) throws(PurgeFault) -> String {
        do throws(GrammarError) {
            return try SourceSchemes.anyURL(Array(text.utf8))
        } catch {
            throw PurgeFault(error)
        }
    }

    /// The same of the beginning of one.
    private static func prefix(_ text: String) throws(PurgeFault) -> String {
        do throws(GrammarError) {
            let bytes = try HostName.ascii(hostOf: Array(text.utf8))
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw PurgeFault(error)
        }
    }
}

/// Why a request of an operator is refused.
package struct PurgeFault: Error, Hashable, Sendable {
    package let status: UInt16
    /// What programs know it by.
    package let name: String
    /// One sentence for people.
    package let message: String

    init(_ status: UInt16, _ name: String, _ message: String) {
        (self.status, self.name, self.message) = (status, name, message)
    }

    init(_ error: GrammarError) {
        self.init(UInt16(clamping: error.status), error.kind.name, error.message)
    }

    static func malformed(_ message: String) -> PurgeFault {
        PurgeFault(400, "invalidRequest", message)
    }

    static let names = malformed(
        "name one of url, prefix and tag, such as {\"url\": \"https://example.com/a.jpg\"}")
    static let nowhere = PurgeFault(
        404, "notFound", "POST goes to \(PurgeRequest.path); PURGE has the path of an image")
    static let method = PurgeFault(
        405, "methodNotAllowed", "only \(PurgeRequest.methods) are answered")
    static let token = PurgeFault(
        401, "unauthorized", "entries are removed with the bearer token of an operator")
    static let body = malformed("PURGE has no body: leave it out")
    static let full = PurgeFault(429, "busy", "too many requests wait for the stack")
}
