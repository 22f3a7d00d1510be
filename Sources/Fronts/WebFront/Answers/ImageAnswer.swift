package import ImageModel
package import Messages
package import WebGrammar

/// What is known of a delivered image when its answer is made.
package struct DeliveredFacts: Hashable, Sendable {
    package var format: ImageFormat?
    package var byteCount: Int
    package var digest: ContentDigest?
    package var validity: Validity?
    package var timings: StageTimings
    /// Why it is the fallback of the one that was asked for.
    package var fallbackFor: ErrorCode?

    package init(
        format: ImageFormat?, byteCount: Int, digest: ContentDigest? = nil,
        validity: Validity? = nil, timings: StageTimings = StageTimings(),
        fallbackFor: ErrorCode? = nil
    ) {
        (self.format, self.byteCount, self.digest) = (format, byteCount, digest)
        (self.validity, self.timings, self.fallbackFor) = (validity, timings, fallbackFor)
    }
}

/// The head of an answer, and which bytes of the image follow it.
package struct AnswerHead: Hashable, Sendable {
    package var status: UInt16
    package var fields: [Field]
    /// Of the image; `nil`: nothing follows.
    package var bytes: Range<Int>?

    /// A name and a value.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package init(_ status: UInt16, _ fields: [Field] = [], bytes: Range<Int>? = nil) {
        (self.status, self.fields, self.bytes) = (status, fields, bytes)
    }

    /// The value of a field; of several the first.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// How images are answered.
package struct ImageAnswer: Sendable {
    /// How long answers may be kept.
    package var caching = CacheHeader()
    /// The field `Access-Control-Allow-Origin`; `nil`: none.
    package var allowedOrigin: String?
    /// Seconds for which a fallback may be kept.
    package var fallbackSeconds = 60

    package init() {}

    /// Fields of every answer that has bytes of strangers: a browser takes them for nothing but
    /// what they say, and runs nothing in them.
    private static let guards = [
        AnswerHead.Field("X-Content-Type-Options", "nosniff"),
        AnswerHead.Field(
            "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        AnswerHead.Field("Cross-Origin-Resource-Policy", "cross-origin"),
    ]

    /// The head of an answer with an image.
    ///
    /// - Parameters:
    ///   - varies: names of request fields on which the choice of the image depended.
    ///   - now: milliseconds since 1970.
    package func head(
        of image: DeliveredFacts, for request: WebRequest, _ conditions: Conditions,
        varies: [String], now: Int64
    ) -> AnswerHead {
        let tag = image.digest.map { Self.tag($0) }
        var fields = Self.guards + origin
        if !varies.isEmpty {
            fields.append(AnswerHead.Field("Vary", varies.joined(separator: ", ")))
        }
        if let tag { fields.append(AnswerHead.Field("ETag", tag)) }
        if let date = image.validity?.lastModified {
            fields.append(AnswerHead.Field("Last-Modified", date))
        }
        fields.append(AnswerHead.Field("Cache-Control", caching(of: image, for: request, now)))
        fields.append(AnswerHead.Field("Server-Timing", image.timings.serverTiming))
        if let code = image.fallbackFor {
            fields.append(AnswerHead.Field("X-Imagebus-Fallback", "\(code)"))
        }
        if let tag, conditions.isUnmodified(tag) { return AnswerHead(304, fields) }
        fields.append(
            AnswerHead.Field("Content-Type", image.format?.mimeType ?? "application/octet-stream"))
        fields.append(
            AnswerHead.Field(
                "Content-Disposition",
                FileDisposition.text(
                    request.fileName, image.format,
                    isAttachment: request.isAttachment || image.format == nil)))
        fields.append(AnswerHead.Field("Accept-Ranges", "bytes"))
        return part(of: image, conditions, tag ?? "", fields)
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

    private var origin: [AnswerHead.Field] {
        guard let allowedOrigin else { return [] }
        return [
            AnswerHead.Field("Access-Control-Allow-Origin", allowedOrigin),
            AnswerHead.Field("Timing-Allow-Origin", allowedOrigin),
            AnswerHead.Field(
                "Access-Control-Expose-Headers", "Content-Length, Retry-After, Server-Timing"),
        ]
    }

    private func caching(
        of image: DeliveredFacts, for request: WebRequest, _ now: Int64
    ) -> String {
        guard image.fallbackFor == nil else { return "public, max-age=\(fallbackSeconds)" }
        return caching.text(
            image.validity?.expiry, said: request.maxAge, until: request.expires, now: now)
    }

    private func part(
        of image: DeliveredFacts, _ conditions: Conditions, _ tag: String,
        _ fields: [AnswerHead.Field]
    ) -> AnswerHead {
        switch conditions.part(of: image.byteCount, under: tag) {
        case .whole: return AnswerHead(200, fields, bytes: 0..<image.byteCount)
        case .bytes(let range):
            let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(image.byteCount)"
            return AnswerHead(
                206, fields + [AnswerHead.Field("Content-Range", text)], bytes: range)
        case .none:
            return AnswerHead(
                416, [AnswerHead.Field("Content-Range", "bytes */\(image.byteCount)")])
        }
    }

    /// The head of an answer that says why there is no image; its text is for people.
    package func head(status: UInt16, retryAfter: Int? = nil) -> AnswerHead {
        var fields = origin
        fields.append(AnswerHead.Field("Content-Type", "text/plain; charset=utf-8"))
        fields.append(AnswerHead.Field("X-Content-Type-Options", "nosniff"))
        fields.append(AnswerHead.Field("Cache-Control", "no-store"))
        if let retryAfter { fields.append(AnswerHead.Field("Retry-After", "\(retryAfter)")) }
        return AnswerHead(status, fields)
    }
}
