/// A failure as the caller sees it.
public struct ImageError: Error, Hashable, Sendable {
    /// Which one.
    public var code: ErrorCode
    /// One sentence for people: what happened, and what to do where that is known.
    public var message: String
    /// Facts by name: `httpStatus`, `contentType`, `limit`, `step`, `attempt`, …
    public var details: [String: String]
    /// How a worker of somebody else's calls it; `nil` where none failed, or did not say.
    public var foreign: ForeignFailure?

    /// Names the failure; details are few and short (`MessageLimits`).
    public init(_ code: ErrorCode, _ message: String, details: [String: String] = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// Whether the same request may succeed later; origins that answer 429 or 5xx may recover.
    public var retryable: Bool { originMayRecover || code.rule.retryable }

    /// The exit status of the command line (PROTOCOL §9): 75 where the origin may recover.
    public var exitStatus: Int32 { originMayRecover ? 75 : code.rule.exitStatus }

    /// Whose number `number` is: SDWebImage's, ours, or that of who wrote the worker that failed.
    public var domain: String { named?.domain ?? code.domain }

    /// Which failure of its domain.
    public var number: Int64 { named?.code ?? Int64(code.rawValue) }

    /// Whether the URL is not asked again for a while, where the configuration does not say.
    package var blacklists: Bool {
        named?.blocks ?? (code.rule.blacklists && !isOfEmptyBody)
    }

    /// That of a body without bytes, which an origin may send for a moment.
    public static let emptyBody = ImageError(
        .badImageData, "the body is empty: Image data is nil", details: ["part": "body"])

    private var isOfEmptyBody: Bool { code == .badImageData && details["part"] == "body" }

    private var named: ForeignFailure? { code == .foreignFailure ? foreign : nil }

    private var originMayRecover: Bool {
        guard code == .invalidDownloadStatusCode,
            let status = details["httpStatus"].flatMap({ Int($0) })
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
    private static let part = "part"
    private static let pixels = "pixels"

    /// Whether what is damaged is the pixels of an image, and its header can be read: loads that do
    /// not need the pixels succeed all the same (SEMANTICS §7.2).
    package var damagesPixelsOnly: Bool {
        get { code == .badImageData && details[Self.part] == Self.pixels }
        set { details[Self.part] = newValue ? Self.pixels : nil }
    }
}

/// Every error that a caller can get. Numbers up to 2004 are SDWebImage's (SEMANTICS §1.2),
/// ours start at 3000 and are never reused. `Proto/PROTOCOL.md` has the same table; a test walks
/// it.
public enum ErrorCode: UInt16, Hashable, Sendable, CaseIterable {
    /// Empty, unparseable or missing URL.
    case invalidURL = 1000
    /// Not an image, or a corrupt one.
    case badImageData = 1001
    /// The origin said that nothing changed.
    case cacheNotModified = 1002
    /// The URL failed before for good and is not asked again.
    case blacklisted = 1003
    /// The transfer could not be made.
    case invalidDownloadOperation = 2000
    /// The origin answered with a status outside 200–299; `details` has `httpStatus`.
    case invalidDownloadStatusCode = 2001
    /// Cancelled by the caller.
    case cancelled = 2002
    /// The response was refused.
    case invalidDownloadResponse = 2003
    /// The content type is not acceptable; `details` has `contentType`.
    case invalidDownloadContentType = 2004

    /// A defect of ours.
    case internalError = 3000
    /// A queue is full; `details` may have `retryAfter`, in seconds.
    case busy = 3001
    /// The deadline passed.
    case deadlineExceeded = 3002
    /// Width, height, pixels, bytes or pages over the limit; `details` has `limit`.
    case limitExceeded = 3003
    /// Policy forbids this address.
    case addressForbidden = 3004
    /// No loader takes this scheme.
    case unsupportedScheme = 3005
    /// Known, but not decoded or encoded by this version.
    case unsupportedFormat = 3006
    /// The content killed its workers and is quarantined.
    case poisoned = 3007
    /// Too many workers died with the job.
    case workerLost = 3008
    /// No space for payloads.
    case arenaFull = 3009
    /// The origin could not be reached.
    case connectionFailed = 3010
    /// The host name has no address.
    case nameNotResolved = 3011
    /// The origin took too long.
    case timedOut = 3012
    /// TLS failed.
    case tlsFailed = 3013
    /// The body ended early.
    case shortBody = 3014
    /// Too many redirects.
    case tooManyRedirects = 3015
    /// The body's encoding is broken.
    case badEncoding = 3016
    /// A message breaks the protocol.
    case protocolViolation = 3017
    /// The peers share no protocol version.
    case versionMismatch = 3018
    /// The token is another client's.
    case tokenInUse = 3019
    /// A request that makes no sense; the message says which part.
    case invalidRequest = 3020
    /// A step cannot be applied to this image; `details` has `step`.
    case stepFailed = 3021
    /// Nobody serves the endpoint.
    case unavailable = 3022
    /// The connection to the origin broke while the body came.
    case connectionBroken = 3023
    /// The stack is shutting down.
    case shuttingDown = 3024
    /// The origin broke HTTP.
    case protocolBroken = 3025
    /// The bytes behind a reference were reused; repaired inside the client library.
    case stale = 3026
    /// SDWebImage has it, this version does not; `details` has `option`.
    case notSupported = 3027
    /// The operator's sources do not have this URL.
    case sourceForbidden = 3028
    /// A worker of somebody else's says why it failed (`ImageError.foreign`).
    case foreignFailure = 3029
}

/// What follows from an error: one row a code.
public struct ErrorRule: Hashable, Sendable {
    /// The name on the command line and in JSON.
    public let name: String
    /// Whether the same request may succeed later.
    public let retryable: Bool
    /// Whether the URL is not asked again for a while (SEMANTICS §7.2).
    public let blacklists: Bool
    /// The exit status of the command line (PROTOCOL §9).
    public let exitStatus: Int32
}

extension ErrorCode {
    /// SDWebImage's codes live in its domain, ours in our own.
    public var domain: String {
        rawValue < 3000 ? "SDWebImageErrorDomain" : "ImagebusErrorDomain"
    }

    /// The row of this code. A 5xx answer of an origin differs from a 4xx: `ImageError` knows.
    public var rule: ErrorRule {
        switch self {
        case .invalidURL: Self.row("invalidURL", 64, blacklists: true)
        case .badImageData: Self.row("badImageData", 65, blacklists: true)
        case .cacheNotModified: Self.row("cacheNotModified", 0)
        case .blacklisted: Self.row("blacklisted", 66)
        case .invalidDownloadOperation: Self.row("invalidDownloadOperation", 66)
        case .invalidDownloadStatusCode: Self.row("invalidDownloadStatusCode", 66)
        case .cancelled: Self.row("cancelled", 130)
        case .invalidDownloadResponse: Self.row("invalidDownloadResponse", 76)
        case .invalidDownloadContentType: Self.row("invalidDownloadContentType", 66)
        case .internalError: Self.row("internalError", 70)
        case .busy: Self.row("busy", 75, retryable: true)
        case .deadlineExceeded: Self.row("deadlineExceeded", 124, retryable: true)
        case .limitExceeded: Self.row("limitExceeded", 77)
        case .addressForbidden: Self.row("addressForbidden", 77)
        case .unsupportedScheme: Self.row("unsupportedScheme", 77, blacklists: true)
        case .unsupportedFormat: Self.row("unsupportedFormat", 65)
        case .poisoned: Self.row("poisoned", 65)
        case .workerLost: Self.row("workerLost", 75, retryable: true)
        case .arenaFull: Self.row("arenaFull", 75, retryable: true)
        case .connectionFailed: Self.row("connectionFailed", 75, retryable: true)
        case .nameNotResolved: Self.row("nameNotResolved", 75, retryable: true)
        case .timedOut: Self.row("timedOut", 75, retryable: true)
        case .tlsFailed: Self.row("tlsFailed", 76)
        case .shortBody: Self.row("shortBody", 76, retryable: true)
        case .tooManyRedirects: Self.row("tooManyRedirects", 76, blacklists: true)
        case .badEncoding: Self.row("badEncoding", 76, blacklists: true)
        case .protocolViolation: Self.row("protocolViolation", 70)
        case .versionMismatch: Self.row("versionMismatch", 70)
        case .tokenInUse: Self.row("tokenInUse", 64)
        case .invalidRequest: Self.row("invalidRequest", 64)
        case .stepFailed: Self.row("stepFailed", 65)
        case .unavailable: Self.row("unavailable", 69, retryable: true)
        case .connectionBroken: Self.row("connectionBroken", 75, retryable: true)
        case .shuttingDown: Self.row("shuttingDown", 75, retryable: true)
        case .protocolBroken: Self.row("protocolBroken", 76)
        case .stale: Self.row("stale", 75, retryable: true)
        case .notSupported: Self.row("notSupported", 64)
        case .sourceForbidden: Self.row("sourceForbidden", 77)
        case .foreignFailure: Self.row("foreignFailure", 66)
        }
    }

    private static func row(
        _ name: String, _ exitStatus: Int32, retryable: Bool = false, blacklists: Bool = false
    ) -> ErrorRule {
        ErrorRule(
            name: name, retryable: retryable, blacklists: blacklists, exitStatus: exitStatus)
    }
}

extension ErrorCode {
    /// Whether a fallback may take the place of the image that fails so: the URL, its origin or
    /// its content is the reason, and not the caller, nor a stack that should be asked again.
    public var admitsFallback: Bool {
        switch self {
        case .invalidURL, .badImageData, .blacklisted, .invalidDownloadOperation,
            .invalidDownloadStatusCode, .invalidDownloadResponse, .invalidDownloadContentType,
            .deadlineExceeded, .limitExceeded, .addressForbidden, .sourceForbidden,
            .unsupportedScheme,
            .unsupportedFormat, .poisoned, .workerLost, .connectionFailed, .nameNotResolved,
            .timedOut, .tlsFailed, .shortBody, .tooManyRedirects, .badEncoding, .stepFailed,
            .connectionBroken, .protocolBroken, .foreignFailure:
            true
        case .cacheNotModified, .cancelled, .internalError, .busy, .arenaFull, .protocolViolation,
            .versionMismatch, .tokenInUse, .invalidRequest, .unavailable, .shuttingDown, .stale,
            .notSupported:
            false
        }
    }
}

/// How a failure is called by whoever wrote the worker that failed: the domain and the code of an
/// `NSError` of one of SDWebImage's plugins. It reaches the caller as it was said.
public struct ForeignFailure: Hashable, Sendable {
    /// Whose numbers these are, such as `PhotosErrorDomain`.
    public var domain: String
    /// Which failure of the domain.
    public var code: Int64
    /// Whether the URL is not asked again for a while, as after a failure for good.
    public var blocks: Bool

    /// Bytes of a domain.
    public static let domainBytesMax = 128

    /// Names a failure.
    public init(domain: String, code: Int64, blocks: Bool = false) {
        self.domain = domain
        self.code = code
        self.blocks = blocks
    }
}
