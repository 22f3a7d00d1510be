/// Why a libvips operation failed.
public struct VipsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by; libvips itself has only texts.
    public enum Kind: Sendable {
        /// The bytes are damaged, cut off or not of the format they claim to be.
        case corrupt
        /// The bytes may be sound, but libvips, or this build of it, does not do what they need.
        case unsupported
        /// The image is larger than the library below libvips makes any.
        case tooLarge
        /// `VipsImage.watch` asked for the end of the computation.
        case killed
        /// A sink of `VipsImage.save` refused bytes.
        case refused
        /// Anything else: a fault of ours, or no memory.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// The name of the operation that failed.
    public let operation: String
    /// What libvips said, one message a line; for the log, not for a client.
    public let text: String

    /// An error that is thrown where libvips itself was content.
    public init(kind: Kind, operation: String, text: String) {
        self.kind = kind
        self.operation = operation
        self.text = text
    }

    /// `jpegload: corrupt: VipsJpeg: Premature end of input file`
    public var description: String { "\(operation): \(kind): \(text)" }
}
