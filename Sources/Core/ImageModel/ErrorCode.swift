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
