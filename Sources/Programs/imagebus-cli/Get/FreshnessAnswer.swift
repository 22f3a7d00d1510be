import Imagebus
import Linux
import Messages

/// How fresh an image is, in `get --json` (SEMANTICS §15.3); every name is always there.
struct FreshnessAnswer: Encodable, Sendable {
    /// Whole seconds since the origin made its answer, and those for which it is still fresh; null
    /// where that is not known.
    let age: Int?
    let fresh: Int?
    let etag: String?
    let lastModified: String?
    /// The name of the error for which a stale image was delivered; null for no such reason.
    let staleFor: String?

    init(_ validity: Validity) {
        let now = WallClock.nanoseconds() / 1_000_000
        age = validity.expiry.map { Int($0.age(at: now)) }
        fresh = validity.expiry.map { Int($0.remaining(at: now)) }
        (etag, lastModified) = (validity.etag, validity.lastModified)
        staleFor = validity.originFailure?.code.rule.name
    }

    private enum CodingKeys: String, CodingKey {
        case age, fresh, etag, lastModified, staleFor
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(age, forKey: .age)
        try values.encode(fresh, forKey: .fresh)
        try values.encode(etag, forKey: .etag)
        try values.encode(lastModified, forKey: .lastModified)
        try values.encode(staleFor, forKey: .staleFor)
    }

    /// For people, without the ends of lines.
    var line: String {
        var parts: [String] = []
        if let age, let fresh { parts.append("\(age) s old, fresh for \(fresh) s") }
        if let etag { parts.append("ETag \(etag)") }
        if let lastModified { parts.append("Last-Modified \(lastModified)") }
        return "origin: " + (parts.isEmpty ? "nothing known" : parts.joined(separator: ", "))
    }
}
