import Curl
import Zlib

/// A content coding that is undone here. Bodies are asked for without any, but there are origins
/// that compress all that they have.
enum ContentCoding: Hashable {
    case gzip
    /// In the format of zlib; some origins leave its header out (RFC 9110 §8.4.1.2).
    case deflate

    /// The coding of a body, nil where it has none. Throws for more than one, which multiply what a
    /// short response becomes, and for those that nobody asks of a loader of images.
    init?(_ head: ResponseHead) throws(DownloadFailure) {
        let names = head.contentCodings
        guard let name = names.first else { return nil }
        switch names.count == 1 ? name : "" {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: throw .contentCodings(names.joined(separator: ", "))
        }
    }
}
