internal import CZimg

/// Why zimg did not do what was asked.
public struct ZimgError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// zimg has no such conversion, or not for such sizes.
        case unsupported
        /// The cancellation closure answered true.
        case cancelled
        /// There is no memory for the graph or its scratch.
        case outOfMemory
        /// A fault of ours: planes that do not fit the graph, or are not aligned.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What zimg said; for the log, not for a client.
    public let text: String

    /// `unsupported: subsampling greater than 4x is not supported`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ failure: czimg_failure) {
        kind = Kind(failure.status)
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension ZimgError.Kind {
    fileprivate init(_ status: czimg_status) {
        self =
            switch status {
            case CZIMG_STOPPED: .cancelled
            case CZIMG_UNSUPPORTED: .unsupported
            case CZIMG_NO_MEMORY: .outOfMemory
            default: .internal
            }
    }
}
