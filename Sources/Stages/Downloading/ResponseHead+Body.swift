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
