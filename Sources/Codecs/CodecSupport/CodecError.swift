/// Why a codec library failed.
public struct CodecError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, for decisions. The functions that throw it list the possible kinds.
    /// The raw values are those of the status in each C module, where 0 is success.
    public enum Kind: UInt32, Sendable {
        /// The bytes are damaged, truncated or not in the codec's format.
        case corrupt = 1
        /// The bytes or the conversion may be valid, but the library or its binding doesn't support
        /// them.
        case unsupported
        /// The image exceeds a limit of the format or of its binding.
        case tooLarge
        /// The cancellation closure returned `true`.
        case cancelled
        /// The sink refused bytes or provided no memory.
        case refused
        /// Out of memory, or more memory is needed than the limits permit.
        case outOfMemory
        /// A bug in this project: wrong sizes, options or order of calls.
        case `internal`
    }

    /// The kind of failure, for decisions.
    public let kind: Kind
    /// The library's message or error number; for logs, not for clients.
    public let text: String

    /// A description for logs, such as `corrupt: Premature end of input file`.
    public var description: String { "\(kind): \(text)" }

    /// Creates an error that a binding or its caller detected.
    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// Creates an error from the status of a C module.
    public init(status: UInt32, text: String) {
        self.init(kind: Kind(rawValue: status) ?? .internal, text: text)
    }

    /// Creates an error with the message in an array of C, which ends at the first zero.
    public init<Characters>(status: UInt32, message: Characters) {
        let text = withUnsafeBytes(of: message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(status: status, text: text)
    }
}
