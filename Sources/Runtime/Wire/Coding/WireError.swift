import CMessages
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

/// Name and value together are limited like a text.
private enum ErrorDetailLimits: DetailLimits {
    static var nameMax: Int { MessageLimits.textBytesMax }
    static func valueMax(beside name: String) -> Int { nameMax - name.utf8.count }
}

extension ImageError: WireMessage {
    typealias Form = Imagebus__V1__Error
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__error__init }
    static var blank: Self { Self(.internalError, "") }

    /// An error can always be sent: long texts are truncated, NULs become spaces, and details
    /// beyond the limit are omitted, starting with the last names.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (message, details) = (
            Self.cut(self.message, to: MessageLimits.textBytesMax), travelingDetails
        )
        try map.details(
            &details, ErrorDetailLimits.self, &wire.pointee.n_details, &wire.pointee.details,
            "Error.details", limit: MessageLimits.detailsMax)
        try map.word(&code, &wire.pointee.code, "Error.code")
        try map.text(
            &message, &wire.pointee.message, "Error.message", limit: MessageLimits.textBytesMax)
        var external = self.external.map { failure in
            var failure = failure
            failure.domain = Self.cut(failure.domain, to: ExternalFailure.domainBytesMax)
            return failure
        }
        try map.maybe(&external, &wire.pointee.foreign, "Error.foreign")
        (self.message, typedDetails.texts, self.external) = (message, details, external)
    }

    private var travelingDetails: [String: String] {
        let details = typedDetails.texts
        guard !details.isEmpty else { return [:] }
        let named = details.map { (Self.cut($0, to: ErrorDetailLimits.nameMax), $1) }
        let unique = Dictionary(named) { first, _ in first }.sorted { $0.key < $1.key }
        let kept = unique.prefix(MessageLimits.detailsMax).map { name, value in
            (name, Self.cut(value, to: ErrorDetailLimits.valueMax(beside: name)))
        }
        return Dictionary(uniqueKeysWithValues: kept)
    }

    /// Returns the text without NULs, truncated to `limit` bytes at a character boundary.
    private static func cut(_ text: String, to limit: Int) -> String {
        if text.utf8.count <= limit && !text.utf8.contains(0) { return text }
        var end =
            text.utf8.index(
                text.startIndex, offsetBy: limit, limitedBy: text.endIndex) ?? text.endIndex
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        let scalars = text[..<end].unicodeScalars.map { $0.value == 0 ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension ExternalFailure: WireMessage {
    typealias Form = Imagebus__V1__ForeignFailure
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__foreign_failure__init }
    static var blank: Self { Self(domain: "", code: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &domain, &wire.pointee.domain, "ForeignFailure.domain", limit: Self.domainBytesMax)
        try map.number(&code, &wire.pointee.code, "ForeignFailure.code")
        map.flag(&blocks, &wire.pointee.blocks, "ForeignFailure.blocks")
    }
}

/// A rejection, of a request or in general.
struct Refusal: WireMessage {
    var error: ImageError
    var token: Token?

    typealias Form = Imagebus__V1__Refused
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__refused__init }
    static var blank: Self { Self(error: .blank, token: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&error, &wire.pointee.error, "Refused.error")
        try map.identifier(maybe: &token, &wire.pointee.token, "Refused.token")
    }
}
