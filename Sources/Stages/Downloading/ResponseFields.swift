import Curl
import Model

extension ResponseHead {
    /// The number of bytes that the sink should get according to the origin; nil if unknown, or if
    /// the bytes are decoded on the way.
    var bodyLength: Int? { contentCodings.isEmpty ? contentLength : nil }

    /// The content codings in the order in which the origin applied them.
    var contentCodings: [String] { elements("content-encoding").filter { $0 != "identity" } }

    /// The target of a redirect. Determined by the status, because other responses can have a
    /// location too: 304, and 300, which offers a choice (RFC 9110 §15.4).
    var redirection: String? {
        guard [301, 302, 303, 307, 308].contains(status), let location = value("location"),
            !location.isEmpty
        else { return nil }
        return location
    }

    /// The headers on which the response varies; everything (`*`) if the field is too long.
    var vary: String? { value("vary") == nil ? nil : kept("vary") ?? "*" }

    /// An overlong field counts as the strictest.
    var cacheControl: String? {
        value("cache-control") == nil ? nil : kept("cache-control") ?? "no-store"
    }

    /// Returns the age of the response; times are milliseconds since 1970. An overlong `Expires`
    /// counts as invalid.
    func age(asked: Int64, answered: Int64) -> ResponseAge {
        ResponseAge(
            date: kept("date"), age: kept("age"),
            expires: value("expires") == nil ? nil : kept("expires") ?? "", asked: asked,
            answered: answered)
    }

    /// The origin's cache tags, by which caches can remove entries.
    var tags: [String] {
        CacheTag.ofOrigin(cacheTag: joined("cache-tag"), surrogateKey: joined("surrogate-key"))
    }

    /// Returns all fields with a name, joined, of any length.
    private func joined(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// Returns a field that is stored with the body; nil if it exceeds the limit of messages.
    func kept(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        let joined = values.joined(separator: ", ")
        guard !values.isEmpty, joined.utf8.count <= MessageLimits.originHeaderBytesMax else {
            return nil
        }
        return joined
    }
}

extension ResponseHead {
    /// Returns the head after applying rules (SEMANTICS §10.14).
    func changed(by change: ResponseChange) -> ResponseHead {
        guard !change.isEmpty else { return self }
        let names = Set(
            (change.removedHeaders + change.headers.map(\.name)).map { $0.lowercased() })
        let kept = fields.filter { !names.contains($0.name) }
        return ResponseHead(
            status: change.status(status),
            fields: kept + change.headers.map { Field(name: $0.name, value: $0.value) })
    }
}

/// The responses that are accepted as images; by default any type with a successful status.
package struct AcceptedResponses: Hashable, Sendable {
    /// The accepted statuses. 206 and 304 are accepted only as answers to range or conditional
    /// requests.
    package var statuses = [200...299]
    /// The accepted content types in lower case, `image/*` as a prefix match; empty for all. A
    /// response without a type is accepted, as in SDWebImage.
    package var types: [String] = []

    func check(_ head: ResponseHead) throws(ImageError) {
        guard head.status != 206, head.status != 304,
            statuses.contains(where: { $0.contains(head.status) })
        else { throw .status(head.status) }
        if let field = head.value("content-type") { try check(type: field) }
    }

    /// Checks a content type field with its parameters.
    func check(type field: String) throws(ImageError) {
        guard !types.isEmpty else { return }
        let type = String(field.prefix { $0 != ";" && $0 != " " }).lowercased()
        guard type.isEmpty || types.contains(where: { Self.matches($0, type) }) else {
            throw ImageError(
                .invalidDownloadContentType,
                "the origin sent the content type '\(type.prefix(64))', which is not accepted by "
                    + "serve --\(DownloadSetting.acceptType.rawValue)"
            ) { $0.contentType = String(type.prefix(64)) }
        }
    }

    private static func matches(_ pattern: String, _ type: String) -> Bool {
        pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
    }
}

/// The byte range of a 206 (RFC 9110 §14.4): `bytes 100-199/200`.
struct ByteRange: Equatable {
    let first: Int
    let last: Int
    /// The size of the whole body; nil if the origin doesn't state it.
    let total: Int?

    /// Returns nil for another unit, a range that ends before it begins or beyond the body, and
    /// anything else that isn't a `Content-Range` of a part.
    init?(_ field: String) {
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last
        else { return nil }
        (self.first, self.last) = (first, last)
        if parts[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }
    }

    /// Accepts only digits, no sign.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}

/// The missing rest of an interrupted body (RFC 9110 §13.1.5 and §14.2).
struct RestOfBody {
    /// The number of received bytes.
    let offset: Int
    /// The strong entity tag of the body.
    let etag: String
    /// The size of the whole body; nil if the origin didn't state it.
    let total: Int?

    /// Returns nil if no bytes have arrived, if the origin doesn't support ranges, or if nothing
    /// guarantees that the rest belongs to the same body: no or a weak entity tag, or a content
    /// coding.
    init?(of head: ResponseHead, offset: Int, total: Int? = nil) {
        guard offset > 0, head.contentCodings.isEmpty, let etag = head.kept("etag"),
            etag.hasPrefix("\""), !head.elements("accept-ranges").contains("none")
        else { return nil }
        (self.offset, self.etag) = (offset, etag)
        self.total = total ?? head.contentLength
    }

    /// The headers of the range request; if the body has changed, the origin sends all of it.
    var headers: [HTTPHeader] {
        [
            HTTPHeader(name: "Range", value: "bytes=\(offset)-"),
            HTTPHeader(name: "If-Range", value: etag),
        ]
    }

    /// Returns the range of a response if it begins the missing rest. It may be shorter than
    /// requested (RFC 9110 §15.3.7), so the total size must be known.
    func part(_ head: ResponseHead) -> ByteRange? {
        guard head.status == 206, head.contentCodings.isEmpty,
            let part = head.value("content-range").flatMap({ ByteRange($0) }),
            part.first == offset, head.value("etag").map({ $0 == etag }) ?? true,
            let whole = part.total ?? total, total == nil || total == whole
        else { return nil }
        return part
    }
}

extension CurlError {
    /// Whether the transfer can be continued after this error: the connection failed, not the
    /// origin.
    var breaksOff: Bool {
        switch code {
        case .partialFile, .gotNothing, .connectionBroken, .timedOut: true
        default: false
        }
    }
}
