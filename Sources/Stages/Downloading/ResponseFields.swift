import Curl
import ImageModel
import Messages

extension ResponseHead {
    /// How many bytes the sink will get if the origin is honest: nil where it does not say, or
    /// where its bytes are decoded on the way.
    var bodyLength: Int? { contentCodings.isEmpty ? contentLength : nil }

    /// What the origin did to the body, in the order in which it did it.
    var contentCodings: [String] { elements("content-encoding").filter { $0 != "identity" } }

    /// Where the image is said to be instead; the status says that it is there, not the location
    /// alone: a 304 may have one, too, and 300 leaves a choice (RFC 9110 §15.4).
    var redirection: String? {
        guard [301, 302, 303, 307, 308].contains(status), let location = value("location"),
            !location.isEmpty
        else { return nil }
        return location
    }

    /// What the answer depends on; on everything where that is too long to be told.
    var vary: String? { value("vary") == nil ? nil : kept("vary") ?? "*" }

    /// What is too long to be told counts as the strictest.
    var cacheControl: String? {
        value("cache-control") == nil ? nil : kept("cache-control") ?? "no-store"
    }

    /// How old the answer is; the moments are milliseconds since 1970. An `Expires` that is too
    /// long is no date.
    func age(asked: Int64, answered: Int64) -> ResponseAge {
        ResponseAge(
            date: kept("date"), age: kept("age"),
            expires: value("expires") == nil ? nil : kept("expires") ?? "", asked: asked,
            answered: answered)
    }

    /// What its origin calls it, for caches that remove by that.
    var tags: [String] {
        CacheTag.ofOrigin(cacheTag: joined("cache-tag"), surrogateKey: joined("surrogate-key"))
    }

    /// All fields of a name, however long.
    private func joined(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// A field that travels with the body; nil where it is longer than messages carry.
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
    /// The head as rules want it to be taken (SEMANTICS §10.14).
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

/// Which responses bring an image.
public struct AcceptedResponses: Hashable, Sendable {
    /// Their statuses. A 206 and a 304 are none of them unless they were asked for.
    public var statuses = [200...299]
    /// Their content types in lower case, `image/*` for all that begin so; empty: all. What says
    /// no type is accepted, as upstream.
    public var types: [String] = []

    /// Any type with a status of success.
    public init() {}

    func take(_ head: ResponseHead) throws(DownloadFailure) {
        guard head.status != 206, head.status != 304,
            statuses.contains(where: { $0.contains(head.status) })
        else { throw .status(head) }
        if let field = head.value("content-type") { try take(type: field) }
    }

    /// What is said to be of this type, with its parameters.
    func take(type field: String) throws(DownloadFailure) {
        guard !types.isEmpty else { return }
        let type = String(field.prefix { $0 != ";" && $0 != " " }).lowercased()
        guard type.isEmpty || types.contains(where: { Self.matches($0, type) }) else {
            throw .contentType(type)
        }
    }

    private static func matches(_ pattern: String, _ type: String) -> Bool {
        pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
    }
}

/// Which bytes of a body a 206 has (RFC 9110 §14.4): `bytes 100-199/200`.
struct ByteRange: Equatable {
    let first: Int
    let last: Int
    /// Bytes of the whole body; nil where the origin does not say.
    let total: Int?

    /// Nil for another unit, a range that ends before it begins or behind the body, and all that is
    /// no `Content-Range` of a part.
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

    /// Digits alone: a sign is none of them.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}

/// What a transfer that broke off left to be asked for: the rest of the same body
/// (RFC 9110 §13.1.5 and §14.2).
struct RestOfBody {
    /// Bytes that are here.
    let offset: Int
    /// The strong entity tag that says which body it is.
    let etag: String
    /// Bytes of the whole body; nil where the origin did not say.
    let total: Int?

    /// Nil where nothing is here yet, where the origin takes no ranges, and where nothing says
    /// surely that the rest belongs to the same body: a weak tag, a coding that is undone, none.
    init?(of head: ResponseHead, offset: Int, total: Int? = nil) {
        guard offset > 0, head.contentCodings.isEmpty, let etag = head.kept("etag"),
            etag.hasPrefix("\""), !head.elements("accept-ranges").contains("none")
        else { return nil }
        (self.offset, self.etag) = (offset, etag)
        self.total = total ?? head.contentLength
    }

    /// What asks for it: all of the body comes where it has become another one.
    var headers: [HTTPHeader] {
        [
            HTTPHeader(name: "Range", value: "bytes=\(offset)-"),
            HTTPHeader(name: "If-Range", value: etag),
        ]
    }

    /// The part that this is the head of, where that begins such a rest. It may be less than what
    /// was asked for (RFC 9110 §15.3.7), so somebody has to have said what the whole is.
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
    /// Whether what came before it may be gone on with: the connection is over, not the origin.
    var breaksOff: Bool {
        switch code {
        case .partialFile, .gotNothing, .connectionBroken, .timedOut: true
        default: false
        }
    }
}
