internal import CWebP

/// Why libwebp made no image.
public struct WebPError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// A side is longer than 16,383 pixels, or a part of the result than the format permits; or
        /// a file has more chunks in front of its pixels than are looked at.
        case tooLarge
        /// The cancellation closure answered true.
        case cancelled
        /// The sink refused bytes.
        case refused
        /// There is no memory.
        case outOfMemory
        /// A fault of ours: wrong sizes or options.
        case `internal`
        /// The bytes are damaged, cut off within the header, or no WebP of the kind that is read.
        case corrupt
    }

    /// What a caller decides by.
    public let kind: Kind
    /// For the log, not for a client: libwebp has numbers only (`WebPEncodingError`).
    public let text: String

    /// `tooLarge: libwebp error 5`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ status: cwebp_status, code: CInt) {
        kind = Kind(status)
        text = "libwebp error \(code)"
    }
}

extension WebPError.Kind {
    fileprivate init(_ status: cwebp_status) {
        self =
            switch status {
            case CWEBP_TOO_LARGE: .tooLarge
            case CWEBP_STOPPED: .cancelled
            case CWEBP_REFUSED: .refused
            case CWEBP_NO_MEMORY: .outOfMemory
            case CWEBP_CORRUPT: .corrupt
            default: .internal
            }
    }
}
