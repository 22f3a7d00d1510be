package import Imagebus
import JSON
package import Linux
package import MicroHTTPD
import Model
package import ProcessRuntime
import Reporting
package import WebGrammar

/// Handles removals of cache entries for operators, on a separate listener. Single-threaded, on its
/// loop.
///
/// A removal continues even if its peer disconnects.
package final class OperatorFront: SideFront {
    private var settings: OperatorSettings
    private let client: ImagebusClient
    private let log: Log
    private let mailbox: Mailbox<Ended>
    private var removals: [UInt64: Removal] = [:]
    private var lastNumber: UInt64 = 0

    /// The result of a removal, sent by the client's thread.
    private struct Ended: Sendable {
        let number: UInt64
        let result: Result<EntryPage, ImageError>
    }

    /// A removal in progress, and the exchange waiting for it.
    private struct Removal {
        let request: PurgeRequest
        var exchange: EventedExchange?
    }

    /// The maximum number of concurrent removals.
    private static let removalsMax = 64

    /// `client` must be connected to a socket on which removals are permitted.
    package init(
        _ settings: OperatorSettings, client: ImagebusClient, log: Log
    ) throws(Errno) {
        (self.settings, self.client, self.log) = (settings, client, log)
        mailbox = try Mailbox(elementsMax: Self.removalsMax)
    }

    /// Uses other settings for later requests, for instance new tokens.
    package func replace(_ settings: OperatorSettings) { self.settings = settings }

    package var descriptor: Int32 { mailbox.descriptor }

    // MARK: - Requests

    package func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        guard permits(exchange) else { return .refuse(Self.reply(to: .token)) }
        guard exchange.method == "POST" else { return .refuse(Self.reply(to: .body)) }
        return .accept(bytesMax: OperatorSettings.bodyBytesMax)
    }

    package func handle(_ exchange: EventedExchange) {
        do throws(PurgeError) {
            guard permits(exchange) else { throw .token }
            let head = IncomingRequest(exchange.method, exchange.target) { exchange.header($0) }
            let request = try PurgeRequest(head, body: exchange.body, settings)
            guard removals.count < Self.removalsMax else { throw .full }
            remove(request, for: exchange)
        } catch {
            exchange.answer(Self.reply(to: error))
        }
    }

    package func ended(_ exchange: EventedExchange, _: HTTPEnd) {
        for (number, removal) in removals where removal.exchange === exchange {
            removals[number]?.exchange = nil
        }
    }

    private func permits(_ exchange: EventedExchange) -> Bool {
        settings.tokens.permits(exchange.header("Authorization"))
    }

    private func remove(_ request: PurgeRequest, for exchange: EventedExchange) {
        lastNumber += 1
        removals[lastNumber] = Removal(request: request, exchange: exchange)
        let (client, mailbox, number) = (client, mailbox, lastNumber)
        let selection = request.selection
        // Uses the client's own thread, because the sandbox doesn't leave enough threads for a
        // thread pool.
        Task.detached(executorPreference: client.executor) {
            let result: Result<EntryPage, ImageError>
            do throws(ImageError) {
                result = .success(try await OperatorClient(client).remove(selection))
            } catch {
                result = .failure(error)
            }
            // The mailbox has room for every removal.
            _ = mailbox.post(Ended(number: number, result: result))
        }
    }

    // MARK: - Answers

    package func handleAnswers() {
        var ends: [Ended] = []
        mailbox.drain(into: &ends)
        for end in ends {
            guard let removal = removals.removeValue(forKey: end.number) else { continue }
            write(removal.request, end.result)
            removal.exchange?.answer(Self.reply(to: removal.request, end.result))
        }
    }

    private func write(_ request: PurgeRequest, _ result: Result<EntryPage, ImageError>) {
        let meant = LogValue.string(
            request.kind == .tag ? request.text : ReducedPath.source(request.text))
        switch result {
        case .success(let page):
            log.info(
                "entries removed by an operator",
                [
                    "of": meant, "memory": LogValue(page.memory.entries),
                    "disk": LogValue(page.disk.entries),
                ])
        case .failure(let error):
            log.warning(
                "removal by an operator failed",
                ["of": meant, "reason": .string("\(error.code): \(error.message)")])
        }
    }

    private static func reply(
        to request: PurgeRequest, _ result: Result<EntryPage, ImageError>
    ) -> HTTPReply {
        switch result {
        case .success(let page):
            // What was removed, and the number of entries per tier.
            let shown =
                request.kind == .url
                ? (try? SourceURL(request.text))?.withoutUserInfo ?? "" : request.text
            let document: JSONObject = [
                request.kind.rawValue: shown, "memory": Int64(clamping: page.memory.entries),
                "disk": Int64(clamping: page.disk.entries),
            ]
            return reply(200, document.line ?? [])
        case .failure(let error):
            // If the stack's operator doesn't permit the removal, the gateway's operator receives
            // 403.
            let failure = FailureStatus(error)
            let status = error.code == .invalidRequest ? 403 : failure.status
            let fault = PurgeError(status, "\(error.code)", error.message)
            return reply(to: fault, retryAfter: failure.retryAfter)
        }
    }

    private static func reply(to fault: PurgeError, retryAfter: Int? = nil) -> HTTPReply {
        let document = JSONObject.failure(fault.status, fault.name, fault.message)
        var fields = [(name: "X-Imagebus-Error", value: fault.name)]
        if fault.status == 401 { fields.append(("WWW-Authenticate", "Bearer")) }
        if fault.status == 405 { fields.append(("Allow", PurgeRequest.methods)) }
        if let retryAfter { fields.append(("Retry-After", "\(retryAfter)")) }
        return reply(fault.status, document.line ?? [], fields)
    }

    private static func reply(
        _ status: UInt16, _ body: [UInt8], _ more: [(name: String, value: String)] = []
    ) -> HTTPReply {
        let fields = [
            (name: "Content-Type", value: "application/json"),
            (name: "Cache-Control", value: "no-store"),
            (name: "X-Content-Type-Options", value: "nosniff"),
        ]
        return HTTPReply(status: status, headers: fields + more, body: .bytes(body))
    }
}

/// The tokens of operators, and how to interpret their requests.
package struct OperatorSettings: Sendable {
    /// The tokens that identify operators.
    package let tokens: BearerTokens
    /// The grammar of image paths, without signature checks.
    package let grammar: any URLGrammar
    /// The prefix of image paths, which is optional here; may be empty.
    package var pathPrefix = ""

    /// The maximum size of a request body in bytes.
    package static let bodyBytesMax = 16 << 10
}

/// A removal requested over HTTP. Pure: uses neither sockets nor a clock.
package struct PurgeRequest: Hashable, Sendable {
    /// What a text names.
    enum Kind: String {
        /// The original of a URL and everything produced from it.
        case url
        /// Entries whose keys begin with the text.
        case prefix
        /// Entries with a tag.
        case tag
    }

    let kind: Kind
    let text: String

    /// The path for `POST` requests.
    static let path = "/-/purge"
    /// The allowed methods, for `Allow`.
    static let methods = "POST, PURGE"
    /// The prefix of targets that request image properties.
    private static let propertiesPrefix = "/info/"

    /// The selection of entries to remove.
    var selection: EntrySelection {
        switch kind {
        case .url: EntrySelection(url: text)
        case .prefix: EntrySelection(prefix: text)
        case .tag: EntrySelection(tag: text)
        }
    }
}

extension PurgeRequest {
    /// Parses a request: `PURGE` with an image target, or `POST /-/purge` with a `url`, `prefix` or
    /// `tag` in the query or the body (JSON or a form).
    init(
        _ head: IncomingRequest, body: [UInt8], _ settings: OperatorSettings
    ) throws(PurgeError) {
        switch head.method {
        case "PURGE": self.init(kind: .url, text: try Self.source(of: head, settings))
        case "POST":
            guard head.path == Self.path else { throw .nowhere }
            try self.init(Self.texts(head, body))
        default: throw .method
        }
    }

    // MARK: - Image targets

    /// Returns the source for an image target, ignoring expiry and signature.
    private static func source(
        of head: IncomingRequest, _ settings: OperatorSettings
    ) throws(PurgeError) -> String {
        var target = head.target[...]
        for prefix in [settings.pathPrefix, String(propertiesPrefix.dropLast())]
        where !prefix.isEmpty && target.hasPrefix("\(prefix)/") {
            target = target.dropFirst(prefix.count)
        }
        return try checked { () throws(GrammarError) in
            try settings.grammar.read(Array(target.utf8), now: 0).image.url
        }
    }

    private static func checked<Value>(
        _ read: () throws(GrammarError) -> Value
    ) throws(PurgeError) -> Value {
        do throws(GrammarError) {
            return try read()
        } catch {
            throw PurgeError(UInt16(clamping: error.status), error.kind.rawValue, error.message)
        }
    }

    // MARK: - Parameters

    private static func texts(
        _ head: IncomingRequest, _ body: [UInt8]
    ) throws(PurgeError) -> [String: String] {
        if body.isEmpty { return try form(head.target.dropFirst(head.path.count + 1)) }
        let type = (head.field("Content-Type") ?? "").prefix { $0 != ";" }.trimmedOfBlanks
            .lowercased()
        switch type {
        case "application/json":
            do throws(JSONError) {
                return try JSONReader.texts(body)
            } catch {
                throw .malformed("the body must be a JSON object of strings: \(error.reason)")
            }
        case "application/x-www-form-urlencoded":
            guard let text = String(validating: body, as: UTF8.self) else {
                throw .malformed("the body is not UTF-8")
            }
            return try form(text[...])
        default:
            throw .malformed(
                "the Content-Type of the body must be application/json or "
                    + "application/x-www-form-urlencoded")
        }
    }

    /// Parses `name=value&…`, percent-encoded, with `+` for a space (WHATWG URL standard).
    private static func form(_ text: Substring) throws(PurgeError) -> [String: String] {
        var texts: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { PercentCoding.decode($0.replacing("+", with: " ").utf8) }
            guard parts.count == 2, let name = parts[0].flatMap(decoded),
                let value = parts[1].flatMap(decoded)
            else { throw .malformed("'\(pair.prefix(60))' is not NAME=VALUE") }
            guard texts[name] == nil else {
                throw .malformed("'\(pair.prefix(60))' repeats a parameter")
            }
            texts[name] = value
        }
        return texts
    }

    private static func decoded(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self)
    }

    /// Interprets the only parameter. URLs and prefixes are normalized as in cache keys.
    private init(_ texts: [String: String]) throws(PurgeError) {
        guard texts.count == 1, let (name, text) = texts.first else { throw .names }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed("'\(name.prefix(20))' is empty or contains control characters")
        }
        guard let kind = Kind(rawValue: name) else { throw .names }
        switch kind {
        case .url:
            self.init(
                kind: kind,
                text: try Self.checked { () throws(GrammarError) in
                    try SourceSchemes.anyURL(Array(text.utf8))
                })
        case .prefix:
            let bytes = try Self.checked { () throws(GrammarError) in
                try HostName.ascii(hostOf: Array(text.utf8))
            }
            self.init(kind: kind, text: String(decoding: bytes, as: UTF8.self))
        case .tag:
            guard CacheTag.isTag(text) else {
                throw .malformed("'\(text.prefix(60))' is not a tag: \(CacheTag.expected)")
            }
            self.init(kind: kind, text: text)
        }
    }
}

/// Why an operator's request is refused.
package struct PurgeError: Error, Hashable, Sendable {
    package let status: UInt16
    /// The machine-readable name.
    package let name: String
    /// The human-readable message.
    package let message: String

    init(_ status: UInt16, _ name: String, _ message: String) {
        (self.status, self.name, self.message) = (status, name, message)
    }

    static func malformed(_ message: String) -> PurgeError {
        PurgeError(400, "invalidRequest", message)
    }

    static let names = malformed(
        "expected one of url, prefix and tag, such as {\"url\": \"https://example.com/a.jpg\"}")
    static let nowhere = PurgeError(
        404, "notFound", "use POST \(PurgeRequest.path), or PURGE with the path of an image")
    static let method = PurgeError(
        405, "methodNotAllowed", "only \(PurgeRequest.methods) are allowed")
    static let token = PurgeError(
        401, "unauthorized", "removing entries requires the bearer token of an operator")
    static let body = malformed("PURGE must not have a body")
    static let full = PurgeError(429, "busy", "too many pending requests: try again later")
}
