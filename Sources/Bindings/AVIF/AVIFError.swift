internal import CAVIF

/// Why libavif made no image.
public struct AVIFError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The cancellation closure answered true.
        case cancelled
        /// The sink refused bytes.
        case refused
        /// There is no memory.
        case outOfMemory
        /// Of frames: they are damaged or incomplete.
        case corrupt
        /// Of frames: what libavif does not decode.
        case unsupported
        /// A fault of ours: wrong sizes or options.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// For the log, not for a client: libavif's number of the error (`avifResult`).
    public let text: String

    /// `outOfMemory: libavif error 26`
    public var description: String { "\(kind): \(text)" }

    /// Of what a caller finds.
    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ status: cavif_status, code: CInt) {
        kind = Kind(status)
        text = "libavif error \(code)"
    }
}

extension AVIFError.Kind {
    fileprivate init(_ status: cavif_status) {
        self =
            switch status {
            case CAVIF_STOPPED: .cancelled
            case CAVIF_REFUSED: .refused
            case CAVIF_NO_MEMORY: .outOfMemory
            case CAVIF_CORRUPT: .corrupt
            case CAVIF_UNSUPPORTED: .unsupported
            default: .internal
            }
    }
}
