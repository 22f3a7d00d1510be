public import ImageModel
import Messages

extension WireError {
    /// What the peer, or the caller whose value cannot travel, is told.
    ///
    /// A fault of one request is `invalidURL` or `invalidRequest`; versions are `versionMismatch`;
    /// everything else breaks the protocol.
    public var imageError: ImageError {
        switch self {
        case .unsupportedVersion, .versionRefused: ImageError(.versionMismatch, description)
        case .field(let fault, .some): ImageError(fault.requestCode, description)
        default: ImageError(.protocolViolation, description)
        }
    }
}

extension FieldFault {
    fileprivate var requestCode: ErrorCode {
        field == "ImageRequest.url" ? .invalidURL : .invalidRequest
    }
}

extension WireError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .notOurs: "the first frame is not one of this protocol"
        case .unsupportedVersion(let version):
            "the peer speaks version \(version), this side \(FrameHeader.currentVersion)"
        case .versionRefused(let lowest, let highest):
            "the peer speaks versions \(lowest) to \(highest), this side "
                + "\(FrameHeader.currentVersion)"
        case .unknownKind(let kind): "there is no message kind \(kind)"
        case .unexpectedKind(let kind): "a message of kind \(kind) does not travel this way"
        case .tooLarge(let limit): "the message has more than \(limit) bytes"
        case .malformed: "the body is no message of its kind"
        case .quotaExceeded: "the message takes too much memory"
        case .field(let fault, _): fault.description
        }
    }
}

extension FieldFault: CustomStringConvertible {
    /// Field and rule.
    public var description: String {
        switch problem {
        case .missing: "\(field) is missing"
        case .notText: "\(field) is not UTF-8 without NUL"
        case .tooLong(let limit): "\(field) has more than \(limit) bytes"
        case .tooMany(let limit): "\(field) has more than \(limit) elements"
        case .outOfRange: "\(field) is out of range"
        case .unknownValue: "\(field) has an unknown value"
        case .notAnIdentifier: "\(field) does not have \(Identifier128.byteCount) bytes"
        case .duplicate: "\(field) has the same name twice"
        }
    }
}
