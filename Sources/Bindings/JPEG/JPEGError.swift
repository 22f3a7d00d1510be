internal import CJPEG

/// Why libjpeg did not do what was asked.
public struct JPEGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The bytes are damaged, cut off or no JPEG.
        case corrupt
        /// The bytes may be sound, but neither libjpeg nor this binding does what they need.
        case unsupported
        /// The cancellation closure answered true.
        case cancelled
        /// The sink gave no memory.
        case refused
        /// There is no memory, or a file with many scans needs more than `JPEGLimits` permit.
        case outOfMemory
        /// A fault of ours: wrong sizes, a wrong order of calls.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What libjpeg said; for the log, not for a client.
    public let text: String

    /// `corrupt: Premature end of input file`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ failure: cjpeg_failure) {
        kind = Kind(failure.status)
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension JPEGError.Kind {
    fileprivate init(_ status: cjpeg_status) {
        self =
            switch status {
            case CJPEG_CORRUPT: .corrupt
            case CJPEG_UNSUPPORTED: .unsupported
            case CJPEG_STOPPED: .cancelled
            case CJPEG_REFUSED: .refused
            case CJPEG_NO_MEMORY: .outOfMemory
            default: .internal
            }
    }
}
