import Curl
import ImageModel

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
