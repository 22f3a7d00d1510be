package import ImageModel

/// What an error of the stack is in HTTP (RFC 9110 §15).
package struct FailureStatus: Hashable, Sendable {
    package let status: UInt16
    /// Seconds after which it may be tried again; `nil` where that is not worth it, or not known.
    package let retryAfter: Int?

    /// Seconds to wait where the stack does not say: it is starting, or shutting down.
    private static let usualSeconds = 2
    private static let secondsRange = 1...3_600

    package init(_ error: ImageError) {
        status = Self.status(error)
        switch error.code {
        case .busy, .shuttingDown, .unavailable, .arenaFull:
            let said = error.details["retryAfter"].flatMap { Double($0) }
                .flatMap { $0.isFinite && $0 >= 0 ? Int(min($0, 86_400).rounded(.up)) : nil }
            let range = Self.secondsRange
            retryAfter = min(
                max(said ?? Self.usualSeconds, range.lowerBound), range.upperBound)
        default: retryAfter = nil
        }
    }

    private static func status(_ error: ImageError) -> UInt16 {
        switch error.code {
        case .invalidURL, .invalidRequest, .unsupportedScheme: 400
        case .addressForbidden, .sourceForbidden: 403
        case .badImageData, .limitExceeded, .stepFailed, .poisoned: 422
        case .unsupportedFormat, .invalidDownloadContentType: 415
        case .notSupported: 501
        // Nobody reads it: the client has gone.
        case .cancelled: 499
        case .busy, .arenaFull: 429
        case .shuttingDown, .unavailable: 503
        case .deadlineExceeded, .timedOut: 504
        case .blacklisted: 404
        case .invalidDownloadStatusCode: ofOrigin(error.details["httpStatus"])
        case .internalError, .protocolViolation, .versionMismatch, .tokenInUse, .stale,
            .workerLost, .cacheNotModified:
            500
        case .invalidDownloadOperation, .invalidDownloadResponse, .connectionFailed,
            .nameNotResolved, .tlsFailed, .shortBody, .tooManyRedirects, .badEncoding,
            .connectionBroken, .protocolBroken, .foreignFailure:
            502
        }
    }

    /// What the origin does not have is not here either; what it will not give to us is no
    /// statement about the client.
    private static func ofOrigin(_ text: String?) -> UInt16 {
        switch text {
        case "404": 404
        case "410": 410
        default: 502
        }
    }
}
