public import Model

/// Why a message is rejected. Received messages are never trusted, so every error is attributed to
/// the peer; when sending, it identifies the value that can't be encoded.
public enum WireError: Error, Hashable, Sendable {
    /// The first frame is not 8 bytes that begin with the protocol's name, so the peer doesn't
    /// speak this protocol.
    case notOurs
    /// The peer speaks this major version; answer with `VersionRefusal` and parse nothing.
    case unsupportedVersion(UInt8)
    /// The peer rejected this side's version and supports these. Never answered.
    case versionRefused(lowest: UInt8, highest: UInt8)
    /// A message kind that this version doesn't know.
    case unknownKind(UInt8)
    /// A known kind that is not valid in this direction.
    case unexpectedKind(MessageKind)
    /// The body exceeds the size limit of its sockets.
    case tooLarge(limit: Int)
    /// The body can't be parsed as a message of its kind.
    case malformed
    /// The body would take more memory than any message within the limits.
    case quotaExceeded
    /// A field violates a rule. `token` identifies the request if the message was a `Load` with a
    /// readable token, so that only this request is rejected.
    case field(FieldError, token: Token?)
}

/// A field and the rule that it violates.
public struct FieldError: Hashable, Sendable {
    /// The message and field as in `Proto/imagebus.proto`, such as `ImageRequest.url`.
    public let field: String
    /// The violated rule.
    public let problem: Problem

    /// The rules for fields.
    public enum Problem: Hashable, Sendable {
        /// It is required.
        case missing
        /// It isn't UTF-8, or contains a NUL.
        case notText
        /// It has more bytes than the limit.
        case tooLong(limit: Int)
        /// It has more elements than the limit.
        case tooMany(limit: Int)
        /// A number out of range, or NaN.
        case outOfRange
        /// An unknown enumeration value.
        case unknownValue
        /// It isn't 16 bytes long.
        case notAnIdentifier
        /// A name occurs twice.
        case duplicate
    }
}

extension WireError {
    /// Creates an error in a field that isn't attributed to a request.
    static func field(_ field: String, _ problem: FieldError.Problem) -> WireError {
        .field(FieldError(field: field, problem: problem), token: nil)
    }

    /// Returns the same error, attributed to a request.
    func about(_ token: Token) -> WireError {
        guard case .field(let fault, nil) = self else { return self }
        return .field(fault, token: token)
    }
}

extension WireError {
    /// The error to report to the peer, or to the caller whose value can't be encoded.
    ///
    /// An error in one request is `invalidURL` or `invalidRequest`; version errors are
    /// `versionMismatch`; everything else is a protocol violation.
    public var imageError: ImageError {
        switch self {
        case .unsupportedVersion, .versionRefused: ImageError(.versionMismatch, description)
        case .field(let fault, .some): ImageError(fault.requestCode, description)
        default: ImageError(.protocolViolation, description)
        }
    }
}

extension FieldError {
    fileprivate var requestCode: ErrorCode {
        field == "ImageRequest.url" ? .invalidURL : .invalidRequest
    }
}

extension WireError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .notOurs: "the first frame is not an Imagebus frame"
        case .unsupportedVersion(let version):
            "the peer uses protocol version \(version), this side \(FrameHeader.currentVersion)"
        case .versionRefused(let lowest, let highest):
            "the peer supports protocol versions \(lowest) to \(highest), this side uses "
                + "\(FrameHeader.currentVersion)"
        case .unknownKind(let kind): "unknown message kind \(kind)"
        case .unexpectedKind(let kind): "a message of kind \(kind) is not accepted here"
        case .tooLarge(let limit): "the message exceeds \(limit) bytes"
        case .malformed: "the body is not a valid message of its kind"
        case .quotaExceeded: "the message requires too much memory"
        case .field(let fault, _): fault.description
        }
    }
}

extension FieldError: CustomStringConvertible {
    /// The field and the rule.
    public var description: String {
        switch problem {
        case .missing: "\(field) is missing"
        case .notText: "\(field) is not valid UTF-8 or contains NUL"
        case .tooLong(let limit): "\(field) has more than \(limit) bytes"
        case .tooMany(let limit): "\(field) has more than \(limit) elements"
        case .outOfRange: "\(field) is out of range"
        case .unknownValue: "\(field) has an unknown value"
        case .notAnIdentifier: "\(field) does not have \(Identifier128.byteCount) bytes"
        case .duplicate: "\(field) contains a duplicate name"
        }
    }
}
