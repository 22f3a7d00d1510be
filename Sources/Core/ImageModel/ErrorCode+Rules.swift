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
