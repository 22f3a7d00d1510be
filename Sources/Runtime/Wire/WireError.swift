public import Messages

/// Why a message is refused. What a peer sent is never trusted, so every case is the peer's doing,
/// except on the way out: there it names the value that cannot travel.
public enum WireError: Error, Hashable, Sendable {
    /// The first frame is not 8 bytes that begin with the protocol's name: a stranger.
    case notOurs
    /// The peer speaks this major version; answer with `VersionRefusal`, parse nothing.
    case unsupportedVersion(UInt8)
    /// The peer refused our version and speaks these. Never answered.
    case versionRefused(lowest: UInt8, highest: UInt8)
    /// This version has no such kind of message.
    case unknownKind(UInt8)
    /// A known kind that does not travel in this direction.
    case unexpectedKind(MessageKind)
    /// The body has more bytes than the limit of its sockets.
    case tooLarge(limit: Int)
    /// The body is no message of its kind.
    case malformed
    /// The body would take more memory than any message within the limits does.
    case quotaExceeded
    /// A field breaks a rule; `token` names the request where the message was a `Load` and its
    /// token could be read, so that this request alone can be refused.
    case field(FieldFault, token: Token?)
}

/// A field and the rule that it breaks.
public struct FieldFault: Hashable, Sendable {
    /// Message and field as in `Proto/imagebus.proto`, such as `ImageRequest.url`.
    public let field: String
    /// The rule.
    public let problem: Problem

    /// What can be wrong with a field.
    public enum Problem: Hashable, Sendable {
        /// It must be there.
        case missing
        /// Not UTF-8, or with a NUL.
        case notText
        /// More bytes than this.
        case tooLong(limit: Int)
        /// More elements than this.
        case tooMany(limit: Int)
        /// A number outside its range, or one that is no number.
        case outOfRange
        /// An enumeration has no such value.
        case unknownValue
        /// Not 16 bytes.
        case notAnIdentifier
        /// The same name twice.
        case duplicate
    }
}

extension WireError {
    /// A fault of a field, of no particular request.
    static func field(_ field: String, _ problem: FieldFault.Problem) -> WireError {
        .field(FieldFault(field: field, problem: problem), token: nil)
    }

    /// The same fault, about a request.
    func about(_ token: Token) -> WireError {
        guard case .field(let fault, nil) = self else { return self }
        return .field(fault, token: token)
    }
}
