package import ImageModel
import JSON
import Messages
import Nettle
import WebGrammar

/// What follows from how a load ended.
package enum NextMove: Hashable, Sendable {
    /// The image is answered, or a part of it, under this head.
    case image(AnswerHead)
    /// A text is.
    case text(TextAnswer)
    /// Another load takes its place.
    case load(RequestPlan)
}

/// Decides what becomes of a load. Pure: no sockets, no clock.
package struct AnswerMaker: Sendable {
    private let settings: WebFrontSettings

    package init(_ settings: WebFrontSettings) { self.settings = settings }

    /// - Parameter now: milliseconds since 1970.
    package func move(
        after result: Result<DeliveredFacts, ImageError>, of plan: RequestPlan, now: Int64
    ) -> NextMove {
        do throws(ImageError) {
            var image = try result.get()
            image.fallbackFor = plan.fallbackFor ?? image.fallbackFor
            if let facts = plan.facts { return document(image, facts, plan, now) }
            return answer(image, plan, now)
        } catch {
            return failed(error, plan)
        }
    }

    private func answer(
        _ image: DeliveredFacts, _ plan: RequestPlan, _ now: Int64
    ) -> NextMove {
        let answers = settings.answers
        guard image.byteCount != nil else { return .text(answers.sentence(404, "no cache has it")) }
        if plan.framesMax > 1, image.info?.pages ?? 1 > plan.framesMax {
            return .load(plan.asStill())
        }
        if let accept = plan.accept, let info = image.info, accept.weight(of: info.format) == 0 {
            guard let format = accept.replacement(for: info) else {
                return .text(answers.notAcceptable(plan))
            }
            return .load(plan.asking(for: format))
        }
        if image.fallbackFor == nil, !plan.request.isLargeEnough(image.info?.size) {
            return .text(
                answers.sentence(
                    400, "the source is smaller than the size: put ^ before that to enlarge it"))
        }
        return .image(answers.head(of: image, for: plan, now: now))
    }

    private func document(
        _ image: DeliveredFacts, _ facts: FactsPlan, _ plan: RequestPlan, _ now: Int64
    ) -> NextMove {
        let answers = settings.answers
        guard let info = image.info else { return .text(answers.sentence(404, "no cache has it")) }
        do throws(JSONError) {
            let text = try facts.document(info, image.facts, url: plan.request.image.url)
            return .text(
                answers.document(
                    text, facts.contentType, digest: ContentDigest(SHA256.digest(text.span.bytes)),
                    of: image, for: plan, now: now))
        } catch {
            return .text(answers.sentence(500, "the facts cannot be written: \(error.reason)"))
        }
    }

    /// A fallback that cannot be had either says nothing: the first failure is told.
    private func failed(_ error: ImageError, _ plan: RequestPlan) -> NextMove {
        // A still of an animation that is too large may be none of that (SEMANTICS §9.8).
        if error.code == .limitExceeded, plan.keepsFrames { return .load(plan.asStill()) }
        let told = plan.fallbackFor ?? error
        if let fallback = settings.fallback, plan.fallbackFor == nil, plan.upload == nil,
            plan.request.kind == .image, fallback.causes.contain(error)
        {
            return .load(plan.falling(back: fallback, after: error))
        }
        let failure = FailureStatus(told, waits: settings.earlierFailureMilliseconds / 1_000)
        let first = told.firstFailure ?? told
        // A region that lies beside the image (IIIF Image API 3.0, section 4.1).
        let isBeside = plan.request.identifier != nil && told.code == .stepFailed
        return .text(
            settings.answers.failure(
                isBeside ? 400 : failure.status, "\(first.code)", first.message,
                asJSON: plan.wantsJSON, retryAfter: failure.retryAfter, varies: plan.varies))
    }
}

/// How images, and what is known of them, are answered.
package struct ImageAnswer: Sendable {
    /// How long answers may be kept.
    package var caching = CacheHeader()
    /// Seconds for which a fallback may be kept.
    package var fallbackSeconds = 60
    /// The status of a fallback; `nil`: that of the error in whose place it stands.
    package var fallbackStatus: UInt16? = 200
    /// Names of fields that clients are asked to send (`Accept-CH`); none: they are not asked.
    package var wantedHints: [String] = []
    /// Whether `X-Cache` says where an image came from.
    package var saysCache = true

    package init() {}

    /// Fields of every answer that has bytes of strangers: a browser takes them for nothing but
    /// what they say, and runs nothing in them.
    private static let guards = [
        AnswerHead.Field("X-Content-Type-Options", "nosniff"),
        AnswerHead.Field(
            "Content-Security-Policy",
            "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; "
                + "sandbox"),
        AnswerHead.Field("Cross-Origin-Resource-Policy", "cross-origin"),
    ]

    /// Marks what was made of a damaged source.
    private static let damaged = AnswerHead.Field("X-Imagebus-Damaged", "true")

    // MARK: - Images

    /// The head of an answer with an image.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func head(
        of image: DeliveredFacts, for plan: RequestPlan, now: Int64
    ) -> AnswerHead {
        let (request, tag) = (plan.request, image.digest.map { Self.tag($0) })
        var fields = Self.guards + common(plan, image.validity)
        if let tag { fields.append(AnswerHead.Field("ETag", tag)) }
        fields += dated(image, now) + cached(image, for: plan, now)
        fields.append(AnswerHead.Field("Cache-Control", caching(of: image, for: plan, now)))
        if image.isDamaged { fields.append(Self.damaged) }
        var status: UInt16 = 200
        if let error = image.fallbackFor {
            let code = (error.firstFailure ?? error).code
            fields.append(AnswerHead.Field("X-Imagebus-Fallback", "\(code)"))
            status = fallbackStatus ?? FailureStatus(error).status
        }
        if status == 200, plan.isKept, let other = plan.conditions.status(tag, modified(image, now))
        {
            return AnswerHead(other, fields)
        }
        fields.append(
            AnswerHead.Field("Content-Type", image.format?.mimeType ?? "application/octet-stream"))
        if image.isGzipped { fields.append(AnswerHead.Field("Content-Encoding", "gzip")) }
        fields.append(
            AnswerHead.Field(
                "Content-Disposition",
                FileDisposition.text(
                    request.fileName ?? FileDisposition.name(ofSource: request.image.url),
                    image.format,
                    isAttachment: request.isAttachment || image.format == nil)))
        if let frames = image.info?.stillOf {
            fields.append(AnswerHead.Field("X-Imagebus-Still-Of", "\(frames)"))
        }
        guard status == 200, plan.upload == nil else {
            return AnswerHead(status, fields, bytes: 0..<(image.byteCount ?? 0))
        }
        fields.append(AnswerHead.Field("Accept-Ranges", "bytes"))
        let part = plan.conditions.part(
            of: image.byteCount ?? 0, under: tag ?? "", modified: modified(image, now))
        return Self.head(part, of: image.byteCount ?? 0, fields)
    }

    /// The strong entity tag of bytes: half of their digest, which nobody can meet twice.
    package static func tag(_ digest: ContentDigest) -> String {
        let digits = Array("0123456789abcdef")
        let text = digest.bytes.prefix(16).reduce(into: "") {
            $0.append(digits[Int($1 >> 4)])
            $0.append(digits[Int($1 & 15)])
        }
        return "\"\(text)\""
    }

    /// What an uploaded image became is for who sent it (RFC 9110 §9.3.3).
    private func caching(
        of image: DeliveredFacts, for plan: RequestPlan, _ now: Int64
    ) -> String {
        guard plan.isKept else { return "no-store" }
        guard image.fallbackFor == nil else {
            // What failed with the headers of a visitor failed for that one.
            let isPersonal = plan.fallbackIsPersonal
            return "\(isPersonal ? "private" : "public"), max-age=\(fallbackSeconds)"
        }
        return caching.text(
            image.validity, said: plan.request.maxAge, until: plan.request.expires,
            isDamaged: image.isDamaged, now: now)
    }

    private static func head(
        _ part: Conditions.Part, of count: Int, _ fields: [AnswerHead.Field]
    ) -> AnswerHead {
        switch part {
        case .whole: return AnswerHead(200, fields, bytes: 0..<count)
        case .bytes(let range):
            let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
            return AnswerHead(
                206, fields + [AnswerHead.Field("Content-Range", text)], bytes: range)
        case .none:
            return AnswerHead(416, [AnswerHead.Field("Content-Range", "bytes */\(count)")])
        }
    }

    // MARK: - Documents and sentences

    /// An answer with a document that says what is known of an image.
    ///
    /// - Parameters:
    ///   - digest: of the text.
    ///   - now: milliseconds since 1970.
    package func document(
        _ text: [UInt8], _ type: String, digest: ContentDigest?, of image: DeliveredFacts,
        for plan: RequestPlan, now: Int64
    ) -> TextAnswer {
        var fields = common(plan, image.validity)
        fields.append(AnswerHead.Field("X-Content-Type-Options", "nosniff"))
        let tag = digest.map { Self.tag($0) }
        if let tag { fields.append(AnswerHead.Field("ETag", tag)) }
        fields += dated(image, now) + cached(image, for: plan, now)
        fields.append(AnswerHead.Field("Cache-Control", caching(of: image, for: plan, now)))
        if image.isDamaged { fields.append(Self.damaged) }
        if let status = plan.conditions.status(tag, modified(image, now)) {
            return TextAnswer(AnswerHead(status, fields), [])
        }
        fields.append(AnswerHead.Field("Content-Type", type))
        return TextAnswer(AnswerHead(200, fields), text)
    }

    /// An answer that reports an error by its name and a sentence.
    ///
    /// - Parameters:
    ///   - asJSON: whether the body is a JSON object instead of a sentence.
    ///   - varies: names of request fields on which it depends.
    package func failure(
        _ status: UInt16, _ name: String, _ message: String, asJSON: Bool = false,
        retryAfter: Int? = nil, varies: [String] = []
    ) -> TextAnswer {
        let more = [AnswerHead.Field("X-Imagebus-Error", name)]
        var answer = sentence(
            status, "\(name): \(message)", more, retryAfter: retryAfter, varies: varies)
        answer.failure = TextAnswer.Failure(name: name, message: message)
        let document = FailureDocument(status: Int(status), error: name, message: message)
        guard asJSON, let text = document.text else { return answer }
        answer.body = text
        answer.head.set("Content-Type", "application/json")
        return answer
    }

    /// An answer that refuses what this server has no room for now.
    package func busy(_ status: UInt16, _ message: String) -> TextAnswer {
        failure(status, "busy", message, retryAfter: Self.busySeconds)
    }

    private static let busySeconds = 1

    /// An answer of one sentence for people.
    ///
    /// - Parameter varies: names of request fields on which it depends.
    package func sentence(
        _ status: UInt16, _ text: String, _ more: [AnswerHead.Field] = [],
        retryAfter: Int? = nil, varies: [String] = []
    ) -> TextAnswer {
        var fields = hints
        fields.append(AnswerHead.Field("Content-Type", "text/plain; charset=utf-8"))
        fields.append(AnswerHead.Field("X-Content-Type-Options", "nosniff"))
        fields.append(AnswerHead.Field("Cache-Control", "no-store"))
        if let retryAfter { fields.append(AnswerHead.Field("Retry-After", "\(retryAfter)")) }
        fields += Self.vary(varies) + more
        return TextAnswer(AnswerHead(status, fields), Array((text + "\n").utf8))
    }

    // MARK: - Fields

    private func common(_ plan: RequestPlan, _ validity: Validity?) -> [AnswerHead.Field] {
        let isForOne = validity?.caching?.variesOnEverything ?? false
        return hints + Self.vary(isForOne ? ["*"] : plan.varies)
    }

    private static func vary(_ names: [String]) -> [AnswerHead.Field] {
        names.isEmpty ? [] : [AnswerHead.Field("Vary", names.joined(separator: ", "))]
    }

    private var hints: [AnswerHead.Field] {
        wantedHints.isEmpty
            ? [] : [AnswerHead.Field("Accept-CH", wantedHints.joined(separator: ", "))]
    }

    /// - Parameter now: milliseconds since 1970.
    private func cached(
        _ image: DeliveredFacts, for plan: RequestPlan, _ now: Int64
    ) -> [AnswerHead.Field] {
        guard saysCache, let result = image.cacheResult(for: plan, now: now) else { return [] }
        return [AnswerHead.Field("X-Cache", result.rawValue)]
    }

    /// When the origin last changed the source, in seconds since 1970.
    ///
    /// - Parameter now: milliseconds since 1970.
    private func modified(_ image: DeliveredFacts, _ now: Int64) -> Int64? {
        image.validity?.lastModified.flatMap { HTTPDate.seconds($0, now: now / 1_000) }
    }

    /// - Parameter now: milliseconds since 1970.
    private func dated(_ image: DeliveredFacts, _ now: Int64) -> [AnswerHead.Field] {
        let date = modified(image, now).flatMap { _ in image.validity?.lastModified }
            .map { AnswerHead.Field("Last-Modified", $0) }
        return [date, AnswerHead.Field("Server-Timing", image.timings.serverTiming)].compactMap {
            $0
        }
    }
}

/// What an error of the stack is in HTTP (RFC 9110 §15).
package struct FailureStatus: Hashable, Sendable {
    package let status: UInt16
    /// Seconds after which it may be tried again; `nil` where that is not worth it, or not known.
    package let retryAfter: Int?

    /// Seconds to wait where the stack does not say: it is starting, or shutting down.
    private static let usualSeconds = 2
    private static let secondsRange = 1...3_600

    /// - Parameter waits: seconds for which a source that failed before is not asked again.
    package init(_ error: ImageError, waits: Int = 0) {
        status = Self.status(error)
        let said = error.details["retryAfter"].flatMap { Double($0) }
            .flatMap { $0.isFinite && $0 >= 0 ? Int(min($0, 86_400).rounded(.up)) : nil }
        let range = Self.secondsRange
        let seconds = said.map { min(max($0, range.lowerBound), range.upperBound) }
        switch error.code {
        case .busy, .shuttingDown, .unavailable, .arenaFull:
            retryAfter = seconds ?? Self.usualSeconds
        case .invalidDownloadStatusCode: retryAfter = seconds
        case .blacklisted:
            let age = error.details["age"].flatMap { Int($0) }
            retryAfter = age.map { max(range.lowerBound, waits - $0) }
        default: retryAfter = nil
        }
    }

    private static func status(_ error: ImageError) -> UInt16 {
        switch error.code {
        case .invalidURL, .invalidRequest, .unsupportedScheme: 400
        case .addressForbidden, .sourceForbidden: 403
        case .badImageData, .limitExceeded, .stepFailed, .poisoned: 422
        case .unsupportedFormat, .invalidDownloadContentType: 415
        case .notSupported: 501
        // Nobody reads it: the client has gone.
        case .cancelled: 499
        case .busy, .arenaFull: 429
        case .shuttingDown, .unavailable: 503
        case .deadlineExceeded, .timedOut: 504
        // As it failed at first.
        case .blacklisted: error.firstFailure.map { status($0) } ?? 404
        case .invalidDownloadStatusCode: ofOrigin(error.details["httpStatus"])
        case .internalError, .protocolViolation, .versionMismatch, .tokenInUse, .stale,
            .workerLost, .cacheNotModified:
            500
        case .invalidDownloadOperation, .invalidDownloadResponse, .connectionFailed,
            .nameNotResolved, .tlsFailed, .shortBody, .tooManyRedirects, .badEncoding,
            .connectionBroken, .protocolBroken, .foreignFailure:
            502
        }
    }

    /// What the origin says of the image counts here as well, and so does that it has no time. A
    /// challenge is meant for us and not for the client: to that it is forbidden. Everything else
    /// is the origin's failure.
    private static func ofOrigin(_ text: String?) -> UInt16 {
        switch text.flatMap({ UInt16($0) }) {
        case 401: 403
        case .some(let status) where [403, 404, 410, 429, 451, 503].contains(status): status
        default: 502
        }
    }
}

extension ImageError {
    /// The error for which a source is refused that failed before; `nil` of other errors.
    package var firstFailure: ImageError? {
        guard code == .blacklisted, let reason = details["reason"],
            let first = ErrorCode.allCases.first(where: { $0.rule.name == reason }),
            first != .blacklisted
        else { return nil }
        return ImageError(first, "it failed before", details: details)
    }
}

/// An error as a JSON object.
struct FailureDocument: Encodable {
    let status: Int
    /// The name of the error.
    let error: String
    /// A sentence for people.
    let message: String

    private enum Names: String, CodingKey { case status, error, message }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        try members.encode(status, forKey: .status)
        try members.encode(error, forKey: .error)
        try members.encode(message, forKey: .message)
    }

    /// Its bytes; `nil` where it cannot be written.
    var text: [UInt8]? { (try? JSONWriter.text(self)).map { Array(($0 + "\n").utf8) } }
}
