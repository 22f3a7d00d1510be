package import ImageModel

/// What an error of the stack is in HTTP (RFC 9110 §15).
package struct FailureStatus: Hashable, Sendable {
    package let status: UInt16
    /// Seconds after which it may be tried again; `nil` where that is not worth it, or not known.
    package let retryAfter: Int?

    /// Seconds to wait where the stack does not say: it is starting, or shutting down.
    private static let usualSeconds = 2
    private static let secondsRange = 1...3_600

    /// - Parameter waits: seconds for which a source that failed before is not asked again.
    package init(_ error: ImageError, waits: Int = 0) {
        status = Self.status(error)
        let said = error.details["retryAfter"].flatMap { Double($0) }
            .flatMap { $0.isFinite && $0 >= 0 ? Int(min($0, 86_400).rounded(.up)) : nil }
        let range = Self.secondsRange
        let seconds = said.map { min(max($0, range.lowerBound), range.upperBound) }
        switch error.code {
        case .busy, .shuttingDown, .unavailable, .arenaFull:
            retryAfter = seconds ?? Self.usualSeconds
        case .invalidDownloadStatusCode: retryAfter = seconds
        case .blacklisted:
            let age = error.details["age"].flatMap { Int($0) }
            retryAfter = age.map { max(range.lowerBound, waits - $0) }
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
        // As it failed at first.
        case .blacklisted: error.firstFailure.map { status($0) } ?? 404
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

    /// What the origin says of the image counts here as well, and so does that it has no time. A
    /// challenge is meant for us and not for the client: to that it is forbidden. Everything else
    /// is the origin's failure.
    private static func ofOrigin(_ text: String?) -> UInt16 {
        switch text.flatMap({ UInt16($0) }) {
        case 401: 403
        case .some(let status) where [403, 404, 410, 429, 451, 503].contains(status): status
        default: 502
        }
    }
}

extension ImageError {
    /// The error for which a source is refused that failed before; `nil` of other errors.
    package var firstFailure: ImageError? {
        guard code == .blacklisted, let reason = details["reason"],
            let first = ErrorCode.allCases.first(where: { $0.rule.name == reason }),
            first != .blacklisted
        else { return nil }
        return ImageError(first, "it failed before", details: details)
    }
}
