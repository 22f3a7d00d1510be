import JSON
package import Model
import Nettle
import Reporting
import WebGrammar

/// What to do when a load has ended.
package enum NextStep: Hashable, Sendable {
    /// Send the image, or a part of it.
    case image(Answer)
    case text(Answer)
    /// Begin another load instead.
    case load(RequestPlan)
}

/// Decides how to respond to the result of a load. Pure: uses neither sockets nor a clock.
package struct AnswerMaker: Sendable {
    let settings: WebFrontSettings

    /// - Parameter now: The current time in milliseconds since 1970.
    package func nextStep(
        after result: Result<DeliveredProperties, ImageError>, of plan: RequestPlan, now: Int64
    ) -> NextStep {
        do throws(ImageError) {
            var image = try result.get()
            image.fallbackFor = plan.fallbackFor ?? image.fallbackFor
            if let properties = plan.properties { return document(image, properties, plan, now) }
            return answer(image, plan, now)
        } catch {
            return failed(error, plan)
        }
    }

    private func answer(
        _ image: DeliveredProperties, _ plan: RequestPlan, _ now: Int64
    ) -> NextStep {
        let answers = settings.answers
        guard image.byteCount != nil else { return .text(answers.sentence(404, "not cached")) }
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
                    400, "the source is smaller than the size: put ^ before the size to enlarge"))
        }
        return .image(answers.head(of: image, for: plan, now: now))
    }

    private func document(
        _ image: DeliveredProperties, _ properties: PropertiesPlan, _ plan: RequestPlan,
        _ now: Int64
    ) -> NextStep {
        let answers = settings.answers
        guard let info = image.info else { return .text(answers.sentence(404, "not cached")) }
        do throws(JSONError) {
            let text = try properties.document(info, image.properties, url: plan.request.image.url)
            return .text(
                answers.document(text, properties.contentType, of: image, for: plan, now: now))
        } catch {
            return .text(answers.sentence(500, "the properties cannot be encoded: \(error.reason)"))
        }
    }

    /// Returns the fallback of the path, for the listener's causes, or that of the listener.
    private func fallback(of plan: RequestPlan) -> FallbackSettings? {
        guard let url = plan.request.fallback else { return settings.fallback }
        return FallbackSettings(image: .url(url), causes: settings.fallback?.causes ?? .usual)
    }

    /// Returns the response to an error. If the fallback fails too, the first error is reported.
    private func failed(_ error: ImageError, _ plan: RequestPlan) -> NextStep {
        // A still of an animation that exceeds the limits may be within them (SEMANTICS §9.8).
        if error.code == .limitExceeded, plan.keepsFrames { return .load(plan.asStill()) }
        let reported = plan.fallbackFor ?? error
        if let fallback = fallback(of: plan), plan.fallbackFor == nil, plan.upload == nil,
            plan.request.kind == .image, fallback.causes.contain(error)
        {
            return .load(plan.falling(back: fallback, after: error))
        }
        let failure = FailureStatus(reported, waits: settings.earlierFailureMilliseconds / 1_000)
        let first = reported.firstFailure ?? reported
        // The region is entirely outside the image (IIIF Image API 3.0, section 4.1).
        let isBeside = plan.request.identifier != nil && reported.code == .stepFailed
        return .text(
            settings.answers.failure(
                isBeside ? 400 : failure.status, "\(first.code)", first.message,
                asJSON: plan.wantsJSON, retryAfter: failure.retryAfter, varies: plan.varies))
    }
}

/// How images and their properties are sent.
package struct ImageAnswer: Sendable {
    package var caching = CacheHeader()
    /// The lifetime of a fallback in seconds.
    package var fallbackSeconds = 60
    /// The status of a fallback; `nil` uses that of the error.
    package var fallbackStatus: UInt16? = 200
    /// The client hints to request (`Accept-CH`); empty to request none.
    package var wantedHints: [String] = []
    /// Whether `X-Cache` reports where an image came from.
    package var saysCache = true

    /// Fields of every response with untrusted bytes: they prevent browsers from sniffing the
    /// content type and from running scripts in it.
    private static let guards: HTTPFields = [
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy":
            "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
    ]

    // MARK: - Images

    /// Returns the response with an image.
    ///
    /// - Parameter now: The current time in milliseconds since 1970.
    func head(of image: DeliveredProperties, for plan: RequestPlan, now: Int64) -> Answer {
        let (request, tag) = (plan.request, image.digest.map(Self.tag))
        let (modified, count) = (modified(image, now), image.byteCount ?? 0)
        var answer = Answer(
            status: 200,
            fields: Self.guards + common(image, plan) + described(image, plan, tag, now),
            bytes: 0..<count)
        if let error = image.fallbackFor {
            answer.fields["X-Imagebus-Fallback"] = "\((error.firstFailure ?? error).code)"
            answer.status = fallbackStatus ?? FailureStatus(error).status
        }
        if answer.status == 200, plan.isKept, let status = plan.conditions.status(tag, modified) {
            return Answer(status: status, fields: answer.fields)
        }
        let content: HTTPFields = [
            "Content-Type": image.info?.format.mimeType ?? "application/octet-stream",
            "Content-Encoding": image.isGzipped ? "gzip" : nil,
            "Content-Disposition": FileDisposition.text(
                request.fileName ?? FileDisposition.name(ofSource: request.image.url),
                image.info?.format, isAttachment: request.isAttachment || image.info == nil),
            "X-Imagebus-Still-Of": image.info?.stillOf.map { "\($0)" },
        ]
        answer.fields = answer.fields + content
        guard answer.status == 200, plan.upload == nil else { return answer }
        answer.fields["Accept-Ranges"] = "bytes"
        switch plan.conditions.part(of: count, under: tag ?? "", modified: modified) {
        case .whole: break
        case .bytes(let range):
            (answer.status, answer.bytes) = (206, range)
            answer.fields["Content-Range"] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
        case .none: return Answer(status: 416, fields: ["Content-Range": "bytes */\(count)"])
        }
        return answer
    }

    /// Returns the strong entity tag for a digest: half of its bits, which makes collisions
    /// infeasible.
    static func tag(_ digest: ContentDigest) -> String {
        let digits = Array("0123456789abcdef")
        let text = digest.bytes.prefix(16).reduce(into: "") {
            $0.append(digits[Int($1 >> 4)])
            $0.append(digits[Int($1 & 15)])
        }
        return "\"\(text)\""
    }

    /// Returns the `Cache-Control` value. A response to an upload is only for the client that sent
    /// it (RFC 9110 §9.3.3).
    private func caching(
        of image: DeliveredProperties, for plan: RequestPlan, _ now: Int64
    ) -> String {
        guard plan.isKept else { return "no-store" }
        guard image.fallbackFor == nil else {
            // An error with one HTTP client's headers may not occur for others.
            let isPersonal = plan.fallbackIsPersonal
            return "\(isPersonal ? "private" : "public"), max-age=\(fallbackSeconds)"
        }
        return caching.text(
            image.validity, stated: plan.request.maxAge, until: plan.request.expires,
            isDamaged: image.isDamaged, now: now)
    }

    // MARK: - Documents and messages

    /// Returns a response with a document of image properties.
    ///
    /// - Parameter now: The current time in milliseconds since 1970.
    func document(
        _ text: [UInt8], _ type: String, of image: DeliveredProperties, for plan: RequestPlan,
        now: Int64
    ) -> Answer {
        let tag = ContentDigest(SHA256.digest(text.span.bytes)).map(Self.tag)
        let fields =
            common(image, plan) + ["X-Content-Type-Options": "nosniff"]
            + described(image, plan, tag, now)
        if let status = plan.conditions.status(tag, modified(image, now)) {
            return Answer(status: status, fields: fields)
        }
        return Answer(status: 200, fields: fields + ["Content-Type": type], body: text)
    }

    /// Returns a response that reports an error with its name and message.
    ///
    /// - Parameters:
    ///   - asJSON: Whether the body is a JSON object instead of plain text.
    ///   - varies: The names of the request fields on which it depends.
    func failure(
        _ status: UInt16, _ name: String, _ message: String, asJSON: Bool = false,
        retryAfter: Int? = nil, varies: [String] = []
    ) -> Answer {
        var answer = sentence(
            status, "\(name): \(message)", ["X-Imagebus-Error": name], retryAfter: retryAfter,
            varies: varies)
        answer.failure = Answer.Failure(name: name, message: message)
        guard asJSON, let text = JSONObject.failure(status, name, message).line else {
            return answer
        }
        answer.body = text
        answer.fields["Content-Type"] = "application/json"
        return answer
    }

    /// Returns a response that refuses a request because the server is at capacity.
    func busy(_ status: UInt16, _ message: String) -> Answer {
        failure(status, "busy", message, retryAfter: 1)
    }

    /// Returns a response with a plain-text message.
    ///
    /// - Parameter varies: The names of the request fields on which it depends.
    func sentence(
        _ status: UInt16, _ text: String, _ more: HTTPFields = [:],
        retryAfter: Int? = nil, varies: [String] = []
    ) -> Answer {
        let fields: HTTPFields = [
            "Accept-CH": Self.list(wantedHints), "Content-Type": "text/plain; charset=utf-8",
            "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
            "Retry-After": retryAfter.map { "\($0)" }, "Vary": Self.list(varies),
        ]
        return Answer(status: status, fields: fields + more, body: Array((text + "\n").utf8))
    }

    // MARK: - Fields

    /// Returns a list of names; `nil` if there are none.
    private static func list(_ names: [String]) -> String? {
        names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private func common(_ image: DeliveredProperties, _ plan: RequestPlan) -> HTTPFields {
        let isForOne = image.validity?.caching?.variesOnEverything ?? false
        return [
            "Accept-CH": Self.list(wantedHints), "Vary": isForOne ? "*" : Self.list(plan.varies),
        ]
    }

    /// Returns the fields that describe an image or its properties.
    ///
    /// - Parameter now: The current time in milliseconds since 1970.
    private func described(
        _ image: DeliveredProperties, _ plan: RequestPlan, _ tag: String?, _ now: Int64
    ) -> HTTPFields {
        [
            "ETag": tag,
            "Last-Modified": modified(image, now).flatMap { _ in image.validity?.lastModified },
            "Server-Timing": image.timings.serverTiming,
            "X-Cache": saysCache ? image.cacheResult(for: plan, now: now)?.rawValue : nil,
            "Cache-Control": caching(of: image, for: plan, now),
            "X-Imagebus-Damaged": image.isDamaged ? "true" : nil,
        ]
    }

    /// Returns when the origin last changed the source, in seconds since 1970.
    ///
    /// - Parameter now: The current time in milliseconds since 1970.
    private func modified(_ image: DeliveredProperties, _ now: Int64) -> Int64? {
        image.validity?.lastModified.flatMap { HTTPDate.seconds($0, now: now / 1_000) }
    }
}

/// The HTTP status of an error (RFC 9110 §15).
package struct FailureStatus: Hashable, Sendable {
    package let status: UInt16
    /// The delay in seconds after which the request may be retried; `nil` if a retry is pointless
    /// or the delay unknown.
    package let retryAfter: Int?

    /// The delay in seconds if the stack doesn't specify one, because it is starting or shutting
    /// down.
    private static let usualSeconds = 2
    private static let secondsRange = 1...3_600

    /// - Parameter waits: How long a source that failed before is not tried again, in seconds.
    package init(_ error: ImageError, waits: Int = 0) {
        status = Self.status(error)
        let stated = error.typedDetails.retryAfterSeconds.map {
            Int(min($0, 86_400).rounded(.up))
        }
        let range = Self.secondsRange
        let seconds = stated.map { min(max($0, range.lowerBound), range.upperBound) }
        switch error.code {
        case .busy, .shuttingDown, .unavailable, .arenaFull:
            retryAfter = seconds ?? Self.usualSeconds
        case .invalidDownloadStatusCode: retryAfter = seconds
        case .blacklisted:
            retryAfter = error.typedDetails.ageSeconds.map { max(range.lowerBound, waits - $0) }
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
        // Never sent: the client has disconnected.
        case .cancelled: 499
        case .busy, .arenaFull: 429
        case .shuttingDown, .unavailable: 503
        case .deadlineExceeded, .timedOut: 504
        // The status of the first failure.
        case .blacklisted: error.firstFailure.map { status($0) } ?? 404
        case .invalidDownloadStatusCode: ofOrigin(error.typedDetails.httpStatus)
        case .internalError, .protocolViolation, .versionMismatch, .tokenInUse, .stale,
            .workerLost, .cacheNotModified:
            500
        case .invalidDownloadOperation, .invalidDownloadResponse, .connectionFailed,
            .nameNotResolved, .tlsFailed, .shortBody, .tooManyRedirects, .badEncoding,
            .connectionBroken, .protocolBroken, .foreignFailure:
            502
        }
    }

    /// Maps the origin's status. Statements about the image are passed on, and so is
    /// unavailability. A request for authentication is addressed to us and not to the client, so
    /// the client receives 403. Everything else is a failure of the origin.
    private static func ofOrigin(_ status: Int?) -> UInt16 {
        switch status.flatMap({ UInt16(exactly: $0) }) {
        case 401: 403
        case .some(let status) where [403, 404, 410, 429, 451, 503].contains(status): status
        default: 502
        }
    }
}

extension ImageError {
    /// The original error of a source in the failure cache; `nil` for other errors.
    package var firstFailure: ImageError? {
        guard code == .blacklisted, let reason = typedDetails.reason,
            let first = ErrorCode.allCases.first(where: { $0.rule.name == reason }),
            first != .blacklisted
        else { return nil }
        return ImageError(first, "a previous attempt failed (failure cache)") {
            $0 = typedDetails
        }
    }
}
