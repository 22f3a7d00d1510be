internal import CPNG

/// Why libpng read nothing.
public struct PNGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The bytes are damaged or no PNG.
        case corrupt
        /// The cancellation closure answered true.
        case cancelled
        /// There is no memory.
        case outOfMemory
        /// A fault of ours: another form than that of the file.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What libpng said; for the log, not for a client.
    public let text: String

    /// `corrupt: bad adaptive filter value`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) { (self.kind, self.text) = (kind, text) }

    init(_ status: cpng_status, _ failure: cpng_failure) {
        kind =
            switch status {
            case CPNG_CORRUPT: .corrupt
            case CPNG_STOPPED: .cancelled
            case CPNG_NO_MEMORY: .outOfMemory
            default: .internal
            }
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
