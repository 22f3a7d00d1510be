package import ImageModel
package import Messages
package import WebGrammar

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

    /// Gives a field that is there another value.
    mutating func set(_ name: String, _ value: String) {
        for place in fields.indices where fields[place].name == name {
            fields[place] = Field(name, value)
        }
    }

    /// The value of a field; of several the first.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// An answer whose bytes are made here: a sentence for people, or a document.
package struct TextAnswer: Hashable, Sendable {
    package var head: AnswerHead
    package var body: [UInt8]
    /// The error that it reports; `nil`: none that has a name.
    package var failure: Failure?

    /// An error of a request.
    package struct Failure: Hashable, Sendable {
        /// As in `X-Imagebus-Error`.
        package let name: String
        /// A sentence for people.
        package let message: String
    }

    package init(_ head: AnswerHead, _ body: [UInt8]) { (self.head, self.body) = (head, body) }
}

/// What is known of a load that ended well when its answer is made.
package struct DeliveredFacts: Hashable, Sendable {
    /// What the image is; `nil` where no cache has it, and of what is no image.
    package var info: ImageInfo?
    /// What else was asked for of it.
    package var facts: ImageFacts?
    /// Bytes of the image; `nil`: there are none.
    package var byteCount: Int?
    package var digest: ContentDigest?
    package var validity: Validity?
    package var timings: StageTimings
    /// The tiers that had it, or the original of which it was made; none: that was fetched.
    package var tiers = CacheTypes.none
    /// Whether the bytes are an SVG that is compressed (`.svgz`).
    package var isGzipped = false
    /// Whether it was made of a damaged source, of which pixels are missing.
    package var isDamaged = false
    /// Why it is the fallback of the one that was asked for.
    package var fallbackFor: ImageError?

    package init(
        _ info: ImageInfo?, facts: ImageFacts? = nil, byteCount: Int?,
        digest: ContentDigest? = nil, validity: Validity? = nil,
        timings: StageTimings = StageTimings(), fallbackFor: ImageError? = nil
    ) {
        (self.info, self.facts, self.byteCount) = (info, facts, byteCount)
        (self.digest, self.validity) = (digest, validity)
        (self.timings, self.fallbackFor) = (timings, fallbackFor)
    }

    /// Its format; `nil` of what is no known image.
    package var format: ImageFormat? { info?.format }
}

extension StageTimings {
    /// The field `Server-Timing` (W3C Server Timing): stages that took time, in milliseconds.
    package var serverTiming: String {
        let stages = [
            ("queue", queue), ("query", query), ("fetch", fetch), ("decode", decode),
            ("transform", transform), ("store", store),
        ].filter { $0.1 > 0 }
        return (stages + [("total", total)]).map { "\($0.0);dur=\(Self.tenths($0.1))" }
            .joined(separator: ", ")
    }

    private static func tenths(_ milliseconds: Double) -> String {
        let tenths = Int((min(max(0, milliseconds), 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The field `Content-Disposition` (RFC 6266): a name that no client can be tricked with.
package enum FileDisposition {
    /// Bytes of a name with its ending.
    private static let nameBytesMax = 200
    /// Bytes of what is taken for the ending of a source's name.
    private static let endingBytesMax = 5

    /// - Parameters:
    ///   - name: what the file is called, without its ending; `nil`: a plain word.
    ///   - format: gives the ending; `nil` of what is no known image.
    ///   - isAttachment: whether browsers are to save it.
    package static func text(
        _ name: String?, _ format: ImageFormat?, isAttachment: Bool
    ) -> String {
        let kind = isAttachment ? "attachment" : "inline"
        let ending = format.map { ".\($0 == .jpeg ? "jpg" : $0.name)" } ?? ""
        let whole = cut(name ?? "image", to: nameBytesMax - ending.utf8.count) + ending
        let plain = String(
            decoding: whole.utf8.map { isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        guard plain != whole else { return "\(kind); filename=\"\(plain)\"" }
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(percent(whole))"
    }

    /// What a file of that source is called, without its ending: the last part of its path; `nil`
    /// where that says nothing.
    package static func name(ofSource url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let parts = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
            .split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard let last = parts.last(where: { !$0.isEmpty }),
            let bytes = PercentCoding.decode(last.utf8),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        var stem = text[...]
        if let dot = text.lastIndex(of: "."), text[dot...].utf8.count - 1 <= endingBytesMax {
            stem = text[..<dot]
        }
        return stem.allSatisfy { $0 == "." } ? nil : String(stem)
    }

    /// As many characters as so many bytes have.
    private static func cut(_ text: String, to bytesMax: Int) -> String {
        var count = 0
        return String(
            text.prefix { character in
                count += character.utf8.count
                return count <= bytesMax
            })
    }

    /// Letters, digits and `-._`: no quote, no separator of directories, no control byte.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// As RFC 8187 §3.2 wants it.
    private static func percent(_ text: String) -> String {
        PercentCoding.encode(text.utf8, keeping: isPlain)
    }
}

/// Fields that the operator adds to all answers (imgproxy's `IMGPROXY_CUSTOM_RESPONSE_HEADERS`).
package struct ResponseHeaders: Hashable, Sendable {
    private let fields: [AnswerHead.Field]

    /// Fields of one listener.
    package static let countMax = 32
    /// Bytes of all of them.
    package static let bytesMax = 4_096

    /// None.
    package init() { fields = [] }

    /// `NAME=VALUE`, several with line ends or imgproxy's `\;` between. Throws for what is no field
    /// and for fields that the gateway makes for each answer.
    package init(_ text: String) throws(GrammarError) {
        let lines = text.replacing("\\;", with: "\n").split(whereSeparator: \.isNewline)
        var fields: [AnswerHead.Field] = []
        for line in lines { fields.append(try Self.field(line)) }
        guard !fields.isEmpty, fields.count <= Self.countMax, text.utf8.count <= Self.bytesMax
        else {
            throw GrammarError(
                .malformed,
                "from 1 to \(Self.countMax) headers of \(Self.bytesMax) bytes in all are accepted")
        }
        self.fields = fields
    }

    private static func field(_ line: Substring) throws(GrammarError) -> AnswerHead.Field {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (
            String(parts[0].trimmedOfBlanks), String((parts.last ?? "").trimmedOfBlanks)
        )
        guard parts.count == 2, !value.isEmpty, HTTPHeader(name: name, value: value).isValid else {
            throw GrammarError(
                .malformed,
                "'\(line.prefix(60))' is not a header: write NAME=VALUE, and \\; between several")
        }
        guard !own.contains(name.lowercased()) else {
            throw GrammarError(
                .malformed, "\(name) is made for each answer and cannot be set: leave it out")
        }
        return AnswerHead.Field(name, value)
    }

    /// What says which bytes follow, how long they may be kept and what a browser may do with them.
    private static let own: Set<String> = [
        "accept-ranges", "access-control-allow-origin", "age", "allow", "cache-control",
        "connection", "content-disposition", "content-encoding", "content-length", "content-range",
        "content-security-policy", "content-type", "date", "etag", "expires", "keep-alive",
        "last-modified", "location", "repr-digest", "retry-after", "trailer", "transfer-encoding",
        "upgrade", "vary", "www-authenticate", "x-content-type-options",
    ]

    /// The head with these fields; those of the same name give way.
    func added(to head: AnswerHead) -> AnswerHead {
        guard !fields.isEmpty else { return head }
        var head = head
        let names = Set(fields.map { $0.name.lowercased() })
        head.fields.removeAll { names.contains($0.name.lowercased()) }
        head.fields += fields
        return head
    }
}

/// Which pages of other origins may read answers (Fetch standard, section 3.2).
package struct CrossOriginAccess: Hashable, Sendable {
    private let origins: [String]

    /// Nobody's pages.
    package init() { origins = [] }

    /// `*`, or one origin or several with commas between, such as `https://example.com`; `nil` for
    /// other texts.
    package init?(_ text: String) {
        let origins = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { String($0.trimmedOfBlanks) }
        guard origins == ["*"] || origins.allSatisfy(Self.isOrigin) else { return nil }
        self.origins = origins
    }

    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].count > 1 && parts[0].hasSuffix(":")
            && parts[1].isEmpty && !parts[2].isEmpty
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether nobody's pages may.
    package var isNone: Bool { origins.isEmpty }

    /// Whether it depends on the field `Origin` of a request.
    package var varies: Bool { origins.count > 1 }

    /// What a page of that origin is told; the origin counts only where there are several.
    package func granted(to origin: String?) -> String? {
        varies ? origins.first { $0 == origin } : origins.first
    }

    /// The head with the fields that tell browsers.
    package func added(to head: AnswerHead, origin: String?) -> AnswerHead {
        guard !isNone else { return head }
        var head = head
        if varies { head.vary(on: "Origin") }
        guard let granted = granted(to: origin) else { return head }
        head.fields += [
            AnswerHead.Field("Access-Control-Allow-Origin", granted),
            AnswerHead.Field("Timing-Allow-Origin", granted),
            AnswerHead.Field(
                "Access-Control-Expose-Headers",
                "Content-Length, ETag, Retry-After, Server-Timing, traceparent, X-Cache, "
                    + "X-Imagebus-Damaged, X-Imagebus-Error, X-Imagebus-Fallback, "
                    + "X-Imagebus-Still-Of, X-Request-Id"),
        ]
        return head
    }
}

extension AnswerHead {
    /// The answer depends on one more field of the request.
    fileprivate mutating func vary(on name: String) {
        guard let place = fields.firstIndex(where: { $0.name == "Vary" }) else {
            fields.append(Field("Vary", name))
            return
        }
        guard fields[place].value != "*" else { return }
        fields[place] = Field("Vary", "\(fields[place].value), \(name)")
    }
}
