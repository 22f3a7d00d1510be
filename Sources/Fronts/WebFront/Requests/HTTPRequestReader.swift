import Model
import Reporting
import WebGrammar

/// What to do after reading the head of a request.
package enum Verdict: Hashable, Sendable {
    /// Send a request to the stack.
    case load(RequestPlan)
    /// Respond immediately.
    case answer(Answer)
}

/// Interprets HTTP requests. Pure: uses neither sockets nor a clock.
package struct RequestReader: Sendable {
    private let settings: WebFrontSettings

    package init(_ settings: WebFrontSettings) { self.settings = settings }

    /// The prefix of targets that request image properties.
    private static let propertiesPrefix = "/info/"

    /// - Parameter now: The current time in seconds since 1970.
    package func verdict(on head: IncomingRequest, now: Int) -> Verdict {
        do throws(GrammarError) {
            if let refusal = refusalOfHost(head) { return .answer(refusal) }
            let head = try withoutPrefix(head)
            switch head.method {
            case "GET", "HEAD":
                if isRoot(head), let root = settings.root {
                    return .answer(root.answer(settings.answers, asJSON: wantsJSON(head)))
                }
                return try read(head, now)
            case "OPTIONS": return .answer(options(for: head))
            case "POST":
                if let refusal = refusalOfBody(head) { return .answer(refusal) }
                guard let uploads = settings.uploads else { break }
                return try readUpload(head, uploads, now)
            default: break
            }
            return .answer(refusalOfMethod)
        } catch {
            return .answer(
                settings.answers.failure(
                    UInt16(clamping: error.status), error.kind.rawValue, error.message,
                    asJSON: wantsJSON(head)))
        }
    }

    /// Whether the target names no image: `/`, without a query that has options.
    private func isRoot(_ head: IncomingRequest) -> Bool {
        head.target == "/" || (settings.grammar.queryOptions.isEmpty && head.path == "/")
    }

    private func wantsJSON(_ head: IncomingRequest) -> Bool {
        head.field("Accept").map { AcceptHeader($0).namesJSON } ?? false
    }

    /// Returns the refusal of a host that is not served (RFC 9110 §15.5.20), or `nil`.
    private func refusalOfHost(_ head: IncomingRequest) -> Answer? {
        guard !settings.hosts.isEmpty else { return nil }
        let named = (head.field("Host") ?? "").lowercased()
        let host = named.hasPrefix("[") ? named[...] : named.prefix { $0 != ":" }
        guard !settings.hosts.contains(String(host)) else { return nil }
        return settings.answers.failure(
            421, "wrongHost", "this server does not serve this host", asJSON: false)
    }

    private func withoutPrefix(_ head: IncomingRequest) throws(GrammarError) -> IncomingRequest {
        guard !settings.pathPrefix.isEmpty, head.target != "*" else { return head }
        guard head.target.hasPrefix("\(settings.pathPrefix)/") else {
            throw GrammarError(
                .nowhere, "the path must start with \(settings.pathPrefix)/")
        }
        return IncomingRequest(
            head.method, String(head.target.dropFirst(settings.pathPrefix.count)),
            field: head.field)
    }

    /// Responds to `OPTIONS`: allowed methods, and CORS preflights (Fetch standard, section 3.2.2).
    private func options(for head: IncomingRequest) -> Answer {
        var fields: HTTPFields = ["Allow": methods]
        if !settings.crossOrigin.isNone, head.field("Access-Control-Request-Method") != nil {
            fields["Access-Control-Allow-Methods"] = methods
            fields["Access-Control-Max-Age"] = "86400"
            // A reasonably short, comma-separated list of field names (RFC 9110 §5.6.1).
            if let names = head.field("Access-Control-Request-Headers"),
                (1...1_024).contains(names.utf8.count),
                names.split(separator: ",")
                    .allSatisfy({ HTTPHeader.isToken($0.trimmedOfBlanks) })
            {
                fields["Access-Control-Allow-Headers"] = names
                fields["Vary"] = "Access-Control-Request-Headers"
            }
        }
        return Answer(status: 204, fields: fields)
    }

    /// Returns the refusal of a request before its body is read, or `nil` to read the body.
    package func refusalOfBody(_ head: IncomingRequest) -> Answer? {
        guard !["GET", "HEAD", "OPTIONS"].contains(head.method) else {
            return settings.answers.sentence(413, "\(head.method) must not have a body")
        }
        guard let uploads = settings.uploads, head.method == "POST" else { return refusalOfMethod }
        guard uploads.tokens.permits(head.field("Authorization")) else {
            return settings.answers.sentence(
                401, "uploads require a bearer token", ["WWW-Authenticate": "Bearer"])
        }
        guard head.field("Content-Length").flatMap({ Int($0) }) ?? 0 <= uploads.bytesMax else {
            return settings.answers.sentence(
                413, "the image is larger than \(uploads.bytesMax) bytes")
        }
        return nil
    }

    private var methods: String {
        settings.uploads == nil ? "GET, HEAD, OPTIONS" : "GET, HEAD, OPTIONS, POST"
    }

    private var refusalOfMethod: Answer {
        settings.answers.sentence(
            405, "only \(methods) are allowed", ["Allow": methods])
    }

    // MARK: - Paths

    private func read(_ head: IncomingRequest, _ now: Int) throws(GrammarError) -> Verdict {
        if let grammar = settings.infoGrammar, head.target.hasPrefix(Self.propertiesPrefix) {
            let rest = Array(head.target.utf8.dropFirst(Self.propertiesPrefix.utf8.count - 1))
            return try load(properties(of: grammar.read(rest, now: now)), head, now)
        }
        let hints = settings.hints.map { ClientHints(head.field, $0) }
        let saving = hints?.savesData == true ? settings.hints?.savingGrammar : nil
        let request = try (saving ?? settings.grammar)
            .read(Array(head.target.utf8), now: now)
        if case .redirect(let path) = request.kind {
            return .answer(
                settings.answers.sentence(
                    303, "see \(settings.pathPrefix)\(path)",
                    ["Location": settings.pathPrefix + path]))
        }
        return try load(request, head, now, hints)
    }

    /// Converts a request for an image to one for properties of its source. Options that would
    /// change the image are refused instead of being ignored.
    private func properties(of request: WebRequest) throws(GrammarError) -> WebRequest {
        guard request.kind == .image, request.image.steps.isEmpty,
            request.image.output.isDefault, request.formatQualities.isEmpty,
            request.fallback == nil
        else {
            throw GrammarError(
                .notOffered, "info describes the source: leave the options out",
                option: "info")
        }
        var request = request
        request.kind = .properties
        request.image.infoOnly = true
        return request
    }

    private func load(
        _ request: WebRequest, _ head: IncomingRequest, _ now: Int, _ hints: ClientHints? = nil
    ) throws(GrammarError) -> Verdict {
        var plan = RequestPlan(request)
        plan.conditions = Conditions(head.field, now: now)
        choose(&plan, head, hints)
        try plan.forward(settings.passedHeaders, of: head.field)
        if revalidates(head) { plan.revalidate() }
        return settled(plan)
    }

    /// Whether an operator requests revalidation with the origin (RFC 9111 §5.2.1.4, §5.4). Such
    /// directives of other clients are ignored, because they would put load on origins. All fields
    /// are read through `head`, so that the cached response depends on them.
    private func revalidates(_ head: IncomingRequest) -> Bool {
        guard let operators = settings.operators else { return false }
        let words = [head.field("Cache-Control"), head.field("Pragma")].compactMap { $0 }
            .flatMap { $0.lowercased().split(separator: ",") }
        guard words.contains(where: { $0.trimmedOfBlanks == "no-cache" }) else { return false }
        return operators.permits(head.field("Authorization"))
    }

    /// Interprets an upload, which is processed like an image with a URL.
    private func readUpload(
        _ head: IncomingRequest, _ uploads: UploadSettings, _ now: Int
    ) throws(GrammarError) -> Verdict {
        let request = try uploads.grammar.read(Array(head.target.utf8), now: now)
        try require(
            request.kind == .image || request.kind == .properties,
            "an upload must request an image or its properties")
        var plan = RequestPlan(request)
        plan.upload = .body
        plan.request.image.url = ""
        choose(&plan, head, settings.hints.map { ClientHints(head.field, $0) })
        return settled(plan)
    }

    private func choose(
        _ plan: inout RequestPlan, _ head: IncomingRequest, _ hints: ClientHints?
    ) {
        plan.apply(settings)
        plan.wantsJSON = wantsJSON(head)
        if plan.request.kind == .properties {
            plan.properties = PropertiesPlan(
                settings, path: settings.pathPrefix + head.path, host: head.field("Host"),
                accept: head.field("Accept"))
            plan.varies = settings.propertiesForm.varies
            let wanted = settings.propertiesForm.wanted
            plan.request.image.properties.kinds.formUnion(wanted.kinds)
        }
        // A separate quality applies to clients that save data.
        let saves = hints?.savesData == true && settings.hints?.savingQuality != nil
        if !saves { plan.apply(qualitiesOf: settings.output) }
        if settings.offered.isEmpty {
            plan.keepFormat()
        } else {
            plan.negotiate(head.field("Accept"), offered: settings.offered, settings.output)
        }
        if let hints, let looked = settings.hints { plan.apply(hints, looked) }
        plan.complete(by: settings.output)
        plan.settle()
    }

    private func settled(_ plan: RequestPlan) -> Verdict {
        guard plan.accept?.acceptsImages ?? true else {
            return .answer(settings.answers.notAcceptable(plan))
        }
        return .load(plan)
    }
}

extension ImageAnswer {
    /// Returns the response if no possible format is accepted (RFC 9110 §15.5.7).
    func notAcceptable(_ plan: RequestPlan) -> Answer {
        sentence(406, "no acceptable image format: accept image/*", varies: plan.varies)
    }
}

/// The head of an incoming request, independent of the server implementation.
package struct IncomingRequest {
    package let method: String
    /// The undecoded path and query.
    package let target: String
    /// Returns the value of a field, ignoring the case of its name; several lines are combined
    /// (RFC 9110 §5.3).
    package let field: (String) -> String?

    /// Creates a request whose target may be in absolute form (RFC 9112 §3.2.2): its host then
    /// replaces the field `Host`.
    package init(_ method: String, _ target: String, field: @escaping (String) -> String?) {
        self.method = method
        guard let (host, rest) = Self.parts(ofAbsolute: target) else {
            (self.target, self.field) = (target, field)
            return
        }
        self.target = rest.hasPrefix("/") ? rest : "/\(rest)"
        self.field = { name in name.lowercased() == "host" ? host : field(name) }
    }

    private static func parts(ofAbsolute target: String) -> (host: String, rest: String)? {
        guard !target.hasPrefix("/"), let mark = target.firstRange(of: "://"),
            ["http", "https"].contains(target[..<mark.lowerBound].lowercased())
        else { return nil }
        let rest = target[mark.upperBound...]
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        guard !host.isEmpty else { return nil }
        return (String(host), String(rest[host.endIndex...]))
    }

    /// The target without its query.
    package var path: Substring { target.prefix { $0 != "?" } }
}

/// Explains how a listener interprets a request target, for troubleshooting. Pure: uses neither
/// sockets nor a clock.
package struct TargetExplanation {
    /// The status if the response doesn't involve the stack; `nil` if it does.
    package let status: UInt16?
    /// The text of that response.
    private var answer: String?
    /// What is requested from the stack.
    private var plan: RequestPlan?
    /// Where the result is cached now: memory, disk or none; `nil` if not queried.
    package var cached: String?

    /// Explains a verdict.
    package init(_ verdict: Verdict) {
        switch verdict {
        case .answer(let answer):
            status = answer.status
            self.answer = String(
                String(decoding: answer.body, as: UTF8.self).trimmed(of: "\n"))
        case .load(let plan): (status, self.plan) = (nil, plan)
        }
    }

    /// The keys of the steps, in order.
    private var steps: [String] { plan?.request.image.steps.map(\.key) ?? [] }
    /// The request fields on which the response depends.
    private var varies: [String] { plan?.varies ?? [] }

    /// The format, or the candidates among which the image decides; `nil` for that of the source.
    private var format: String? {
        guard let output = plan?.request.image.output else { return nil }
        let accepted = output.accepted.map(\.name)
        return output.format?.name
            ?? (accepted.isEmpty ? nil : accepted.joined(separator: " or "))
    }

    /// The cache key of the result, unless request headers affect it.
    private var key: String? {
        plan.flatMap { plan in
            (try? SourceURL(plan.request.image.url)).map {
                CacheKey.result(plan.request.image, url: $0, terms: LoadTerms())
            }
        }
    }

    /// The explanation as a JSON object, with a trailing line feed; unknown values are null.
    package var json: String {
        let object: JSONObject = [
            "status": status, "answer": answer, "kind": plan?.request.kind.name,
            "source": plan?.request.image.url, "steps": steps, "format": format, "varies": varies,
            "key": key, "cached": cached,
        ]
        return object.line.map { String(decoding: $0, as: UTF8.self) } ?? "{}\n"
    }

    /// The explanation with one line per known property.
    package var text: String {
        var lines: [(name: String, value: String?)] = [
            ("status", status.map { "\($0)" }), ("answer", answer),
        ]
        if let plan {
            lines += [
                ("kind", plan.request.kind.name), ("source", plan.request.image.url),
                ("steps", steps.isEmpty ? "none" : steps.joined(separator: "\n")),
                ("format", format ?? "that of the source"),
                ("varies", varies.isEmpty ? "no" : varies.joined(separator: ", ")), ("key", key),
            ]
        }
        lines.append(("cached", cached))
        let indent = String(repeating: " ", count: 9)
        return lines.compactMap { name, value in
            value.map { value in
                name + indent.dropFirst(name.count)
                    + value.split(separator: "\n").joined(separator: "\n\(indent)") + "\n"
            }
        }.joined()
    }
}

extension WebRequest.Kind {
    fileprivate var name: String {
        switch self {
        case .image: "image"
        case .source: "source"
        case .properties: "facts"
        case .redirect: "redirect"
        }
    }
}
