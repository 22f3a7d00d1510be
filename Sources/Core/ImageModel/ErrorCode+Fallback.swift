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
