import ImageModel
package import Messages

/// What tells a body from others: what its origin says of it, or a mark of ours where the origin
/// says nothing. An original and the results that are made of it are stored with the same mark, so
/// that a result is never taken for one of bytes that replaced its original.
package struct BodyMark: Hashable, Sendable {
    /// The origin's entity tag, or our mark, which is none.
    let etag: String?
    let lastModified: String?

    /// Of bytes that nobody will ask about again.
    package static let none = BodyMark(etag: nil, lastModified: nil)

    /// Of what the cache has.
    package init(_ metadata: StoredMetadata) {
        self.init(etag: metadata.etag, lastModified: metadata.lastModified)
    }

    /// Of an image that memory answers.
    package init(_ validity: Validity) {
        self.init(etag: validity.etag, lastModified: validity.lastModified)
    }

    /// Of what a worker brought; no two blocks of one life of a process have the same id.
    init(_ body: FetchedBody) {
        guard body.etag == nil, body.lastModified == nil,
            let incarnation = body.reference.producer?.incarnation
        else {
            self.init(etag: body.etag, lastModified: body.lastModified)
            return
        }
        self.init(
            etag: "imagebus:\(incarnation.value.hex)-\(body.reference.block.value)",
            lastModified: nil)
    }

    private init(etag: String?, lastModified: String?) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// What the origin is asked with; `nil` where it gave nothing to ask with.
    package var validators: Validators? {
        Validators(
            etag: etag.flatMap { Self.isEntityTag($0) ? $0 : nil }, lastModified: lastModified)
    }

    /// Whether bytes with this mark are those with the other one. Bytes without a mark equal no
    /// others.
    func names(_ other: BodyMark) -> Bool { self == other && self != .none }

    /// By bytes, as origins compare.
    package static func == (left: BodyMark, right: BodyMark) -> Bool {
        areSame(left.etag, right.etag) && areSame(left.lastModified, right.lastModified)
    }

    private static func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }

    /// `"…"` or `W/"…"` (RFC 9110 §8.8.3).
    private static func isEntityTag(_ text: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        let quoted = text.utf8.starts(with: "W/".utf8) ? text.utf8.dropFirst(2) : text.utf8[...]
        return quoted.count >= 2 && quoted.first == quote && quoted.last == quote
            && quoted.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}
