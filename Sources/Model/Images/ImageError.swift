/// A failure as reported to the caller.
public struct ImageError: Error, Hashable, Sendable {
    /// The error code.
    public var code: ErrorCode
    /// Whether the message says what to do next, so that no advice is added to it. Known only in
    /// the process that created the error.
    package var includesAdvice = false
    /// A sentence for people: what failed, and what to do if that is known.
    public var message: String
    /// The details with their types: `httpStatus`, `contentType`, `limit`, `step`, `attempt`, …
    public var typedDetails: ErrorDetails
    /// The error reported by a plug-in; `nil` if none failed or none was reported.
    public var external: ExternalFailure?

    /// Creates an error; details are few and short (`MessageLimits`).
    public init(_ code: ErrorCode, _ message: String, details: [String: String] = [:]) {
        self.code = code
        self.message = message
        typedDetails = ErrorDetails(details)
    }

    /// Creates an error, and calls `describe` to set its details.
    public init(
        _ code: ErrorCode, _ message: String, describedBy describe: (inout ErrorDetails) -> Void
    ) {
        self.init(code, message)
        describe(&typedDetails)
    }

    /// Creates an error whose message says what to do next.
    package init(_ code: ErrorCode, advising message: String) {
        self.init(code, message)
        includesAdvice = true
    }

    /// Throws `invalidRequest` with this message unless a condition holds.
    package static func require(
        _ holds: Bool, _ message: @autoclosure () -> String
    ) throws(ImageError) {
        guard holds else { throw ImageError(.invalidRequest, message()) }
    }

    /// The details as texts by name, as on the wire and in JSON.
    public var details: [String: String] {
        get { typedDetails.texts }
        set { typedDetails.texts = newValue }
    }

    /// Whether the same request may succeed later; origins that respond with 429 or 5xx may
    /// recover.
    public var retryable: Bool { originMayRecover || code.rule.retryable }

    /// The exit status of the command line (PROTOCOL §9): 75 if the origin may recover.
    public var exitStatus: Int32 { originMayRecover ? 75 : code.rule.exitStatus }

    /// The error domain of `number`: SDWebImage's, ours, or that of the failed plug-in.
    public var domain: String { named?.domain ?? code.domain }

    /// The error number within its domain.
    public var number: Int64 { named?.code ?? Int64(code.rawValue) }

    /// Whether the URL enters the failure cache, unless the configuration says otherwise.
    package var cachesFailures: Bool {
        named?.blocks ?? (code.rule.cachesFailures && !isOfEmptyBody)
    }

    /// The error for an empty body, which may be a transient failure of the origin.
    public static let emptyBody = ImageError(
        .badImageData, "the body is empty"
    ) { $0.part = .body }

    private var isOfEmptyBody: Bool { code == .badImageData && typedDetails.part == .body }

    private var named: ExternalFailure? { code == .foreignFailure ? external : nil }

    private var originMayRecover: Bool {
        guard code == .invalidDownloadStatusCode, let status = typedDetails.httpStatus
        else { return false }
        return status >= 500 || status == 429
    }
}

extension ImageError: CustomStringConvertible {
    /// `badImageData (1001): not an image`, or `PhotosErrorDomain (10001): no such image`
    public var description: String {
        "\(named?.domain ?? code.rule.name) (\(number)): \(message)"
    }
}

extension ImageError {
    /// Whether only the pixels of an image are damaged while its header is readable: loads that
    /// don't need the pixels still succeed (SEMANTICS §7.2).
    package var damagesPixelsOnly: Bool {
        get { code == .badImageData && typedDetails.part == .pixels }
        set { typedDetails.part = newValue ? .pixels : nil }
    }
}

/// Every error that a caller can receive. Numbers up to 2004 are SDWebImage's (SEMANTICS §1.2);
/// ours start at 3000 and are never reused. `Proto/PROTOCOL.md` contains the same table; a test
/// compares them.
public enum ErrorCode: UInt16, Hashable, Sendable, CaseIterable {
    /// Empty, unparseable or missing URL.
    case invalidURL = 1000
    /// Not an image, or corrupt.
    case badImageData = 1001
    /// The origin reported that the content is unchanged.
    case cacheNotModified = 1002
    /// The URL failed permanently before and is in the failure cache.
    case blacklisted = 1003
    /// The transfer could not be started.
    case invalidDownloadOperation = 2000
    /// The origin responded with a status outside 200–299; `details` has `httpStatus`.
    case invalidDownloadStatusCode = 2001
    /// Canceled by the caller.
    case cancelled = 2002
    /// The response was rejected.
    case invalidDownloadResponse = 2003
    /// The content type is not acceptable; `details` has `contentType`.
    case invalidDownloadContentType = 2004

    /// A bug in Imagebus.
    case internalError = 3000
    /// A queue is full; `details` may have `retryAfter`, in seconds.
    case busy = 3001
    /// The deadline passed.
    case deadlineExceeded = 3002
    /// Width, height, pixels, bytes or pages over the limit; `details` has `limit`.
    case limitExceeded = 3003
    /// Policy forbids this address.
    case addressForbidden = 3004
    /// No loader supports this scheme.
    case unsupportedScheme = 3005
    /// Known, but not decoded or encoded by this version.
    case unsupportedFormat = 3006
    /// The content crashed its workers and is quarantined.
    case poisoned = 3007
    /// Too many workers died with the job.
    case workerLost = 3008
    /// The shared memory for payloads is exhausted.
    case arenaFull = 3009
    /// The origin could not be reached.
    case connectionFailed = 3010
    /// The host name has no address.
    case nameNotResolved = 3011
    /// The transfer from the origin timed out.
    case timedOut = 3012
    /// TLS failed.
    case tlsFailed = 3013
    /// The body ended early.
    case shortBody = 3014
    /// Too many redirects.
    case tooManyRedirects = 3015
    /// The content encoding of the body is invalid.
    case badEncoding = 3016
    /// A message violates the protocol.
    case protocolViolation = 3017
    /// The peers have no protocol version in common.
    case versionMismatch = 3018
    /// The token belongs to another client.
    case tokenInUse = 3019
    /// The request is invalid; the message names the offending part.
    case invalidRequest = 3020
    /// A step cannot be applied to this image; `details` has `step`.
    case stepFailed = 3021
    /// No process serves the endpoint.
    case unavailable = 3022
    /// The connection to the origin broke during the transfer of the body.
    case connectionBroken = 3023
    /// The stack is shutting down.
    case shuttingDown = 3024
    /// The origin violated HTTP.
    case protocolBroken = 3025
    /// The bytes behind a reference were reused; the client library recovers from this internally.
    case stale = 3026
    /// SDWebImage supports it, this version does not; `details` has `option`.
    case notSupported = 3027
    /// The operator's sources do not include this URL.
    case sourceForbidden = 3028
    /// A plug-in reported its own error (`ImageError.external`).
    case foreignFailure = 3029
}

/// The consequences of an error: one row per code.
public struct ErrorRule: Hashable, Sendable {
    /// The name on the command line and in JSON.
    public let name: String
    /// Whether the same request may succeed later.
    public let retryable: Bool
    /// Whether the URL enters the failure cache (SEMANTICS §7.2).
    public let cachesFailures: Bool
    /// Whether a fallback may replace the failed image: the cause is the URL, its origin or its
    /// content, and neither the caller nor a temporary state of the stack.
    public let admitsFallback: Bool
    /// The exit status of the command line (PROTOCOL §9).
    public let exitStatus: Int32
}

extension ErrorCode {
    /// The error domain: SDWebImage's for its codes, otherwise our own.
    public var domain: String {
        rawValue < 3000 ? "SDWebImageErrorDomain" : "ImagebusErrorDomain"
    }

    /// Whether a fallback may replace the failed image.
    public var admitsFallback: Bool { rule.admitsFallback }

    /// The row of this code. It doesn't distinguish 5xx from 4xx responses; `ImageError` does.
    public var rule: ErrorRule {
        switch self {
        case .invalidURL: Self.row("invalidURL", 64, cachesFailures: true)
        case .badImageData: Self.row("badImageData", 65, cachesFailures: true)
        case .cacheNotModified: Self.row("cacheNotModified", 0, admitsFallback: false)
        case .blacklisted: Self.row("blacklisted", 66)
        case .invalidDownloadOperation: Self.row("invalidDownloadOperation", 66)
        case .invalidDownloadStatusCode: Self.row("invalidDownloadStatusCode", 66)
        case .cancelled: Self.row("cancelled", 130, admitsFallback: false)
        case .invalidDownloadResponse: Self.row("invalidDownloadResponse", 76)
        case .invalidDownloadContentType: Self.row("invalidDownloadContentType", 66)
        case .internalError: Self.row("internalError", 70, admitsFallback: false)
        case .busy: Self.row("busy", 75, retryable: true, admitsFallback: false)
        case .deadlineExceeded: Self.row("deadlineExceeded", 124, retryable: true)
        case .limitExceeded: Self.row("limitExceeded", 77)
        case .addressForbidden: Self.row("addressForbidden", 77)
        case .unsupportedScheme: Self.row("unsupportedScheme", 77, cachesFailures: true)
        case .unsupportedFormat: Self.row("unsupportedFormat", 65)
        case .poisoned: Self.row("poisoned", 65)
        case .workerLost: Self.row("workerLost", 75, retryable: true)
        case .arenaFull: Self.row("arenaFull", 75, retryable: true, admitsFallback: false)
        case .connectionFailed: Self.row("connectionFailed", 75, retryable: true)
        case .nameNotResolved: Self.row("nameNotResolved", 75, retryable: true)
        case .timedOut: Self.row("timedOut", 75, retryable: true)
        case .tlsFailed: Self.row("tlsFailed", 76)
        case .shortBody: Self.row("shortBody", 76, retryable: true)
        case .tooManyRedirects: Self.row("tooManyRedirects", 76, cachesFailures: true)
        case .badEncoding: Self.row("badEncoding", 76, cachesFailures: true)
        case .protocolViolation: Self.row("protocolViolation", 70, admitsFallback: false)
        case .versionMismatch: Self.row("versionMismatch", 70, admitsFallback: false)
        case .tokenInUse: Self.row("tokenInUse", 64, admitsFallback: false)
        case .invalidRequest: Self.row("invalidRequest", 64, admitsFallback: false)
        case .stepFailed: Self.row("stepFailed", 65)
        case .unavailable: Self.row("unavailable", 69, retryable: true, admitsFallback: false)
        case .connectionBroken: Self.row("connectionBroken", 75, retryable: true)
        case .shuttingDown: Self.row("shuttingDown", 75, retryable: true, admitsFallback: false)
        case .protocolBroken: Self.row("protocolBroken", 76)
        case .stale: Self.row("stale", 75, retryable: true, admitsFallback: false)
        case .notSupported: Self.row("notSupported", 64, admitsFallback: false)
        case .sourceForbidden: Self.row("sourceForbidden", 77)
        case .foreignFailure: Self.row("foreignFailure", 66)
        }
    }

    private static func row(
        _ name: String, _ exitStatus: Int32, retryable: Bool = false, cachesFailures: Bool = false,
        admitsFallback: Bool = true
    ) -> ErrorRule {
        ErrorRule(
            name: name, retryable: retryable, cachesFailures: cachesFailures,
            admitsFallback: admitsFallback, exitStatus: exitStatus)
    }
}

/// An error reported by a plug-in: domain and code of an `NSError` of one of SDWebImage's plugins.
/// Passed to the caller unmodified.
public struct ExternalFailure: Hashable, Sendable {
    /// The error domain, such as `PhotosErrorDomain`.
    public var domain: String
    /// The error code within the domain.
    public var code: Int64
    /// Whether the URL enters the failure cache, as after a permanent failure.
    public var blocks: Bool

    /// The maximum number of bytes of a domain.
    public static let domainBytesMax = 128

    /// Creates an external error.
    public init(domain: String, code: Int64, blocks: Bool = false) {
        self.domain = domain
        self.code = code
        self.blocks = blocks
    }
}
