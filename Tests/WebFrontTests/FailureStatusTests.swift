import Model
import Testing

@testable import WebFront

@Suite struct FailureStatusTests {
    /// The HTTP status of each error; a new error needs a row.
    private static let statuses: [ErrorCode: UInt16] = [
        // Errors of the client's request.
        .invalidURL: 400, .invalidRequest: 400, .unsupportedScheme: 400,
        .addressForbidden: 403, .sourceForbidden: 403, .blacklisted: 404,
        .unsupportedFormat: 415, .invalidDownloadContentType: 415,
        .badImageData: 422, .limitExceeded: 422, .stepFailed: 422, .poisoned: 422,
        .cancelled: 499,
        // The stack is overloaded or out of memory.
        .busy: 429, .arenaFull: 429, .shuttingDown: 503, .unavailable: 503,
        .deadlineExceeded: 504, .timedOut: 504,
        // Errors of the origin.
        .invalidDownloadOperation: 502, .invalidDownloadStatusCode: 502,
        .invalidDownloadResponse: 502, .connectionFailed: 502, .nameNotResolved: 502,
        .tlsFailed: 502, .shortBody: 502, .tooManyRedirects: 502, .badEncoding: 502,
        .connectionBroken: 502, .protocolBroken: 502, .foreignFailure: 502,
        // Internal errors.
        .internalError: 500, .protocolViolation: 500, .versionMismatch: 500, .tokenInUse: 500,
        .stale: 500, .workerLost: 500, .cacheNotModified: 500, .notSupported: 501,
    ]

    @Test(arguments: ErrorCode.allCases)
    func everyErrorHasItsStatus(code: ErrorCode) {
        let failure = FailureStatus(ImageError(code, "text"))
        #expect(failure.status == Self.statuses[code])
        let isWorthIt = [.busy, .shuttingDown, .unavailable, .arenaFull].contains(code)
        #expect((failure.retryAfter != nil) == isWorthIt)
    }

    @Test(arguments: [
        ("2.2", 3), ("0", 1), ("1e300", 3_600), ("-4", 2), ("nan", 2), ("soon", 2),
    ])
    func secondsToWaitAreWhole(stated: String, seconds: Int) {
        let error = ImageError(.busy, "full", details: ["retryAfter": stated])
        #expect(FailureStatus(error).status == 429)
        #expect(FailureStatus(error).retryAfter == seconds)
    }

    @Test(
        arguments: [
            ("404", 404), ("410", 410), ("451", 451), ("403", 403), ("401", 403), ("429", 429),
            ("503", 503), ("400", 502), ("418", 502), ("500", 502), ("200", 502), ("", 502),
            ("99999", 502),
        ])
    func whatTheOriginSaysOfTheImageIsPassedOn(stated: String, status: UInt16) {
        let error = ImageError(
            .invalidDownloadStatusCode, "",
            details: ["httpStatus": stated, "retryAfter": "7"])
        #expect(FailureStatus(error).status == status)
        #expect(FailureStatus(error).retryAfter == 7)
    }
}
