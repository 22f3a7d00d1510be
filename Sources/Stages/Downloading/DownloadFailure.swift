import Curl
import Model
import Zlib

/// The reason why a download ended without a body.
enum DownloadFailure: Error {
    /// An error reported by libcurl.
    case transfer(CurlError)
    /// Every address of the URL or of a redirect was blocked.
    case addressForbidden
    /// A redirect leads to a URL that is not among the permitted sources.
    case sourceForbidden
    /// More redirects than this limit.
    case tooManyRedirects(Int)
    /// The body exceeds this limit, either as announced or as received.
    case bodyTooLarge(Int64)
    /// The origin responded without an image, possibly with the seconds after which to retry.
    case status(ResponseHead, retryAfter: Int64? = nil)
    /// The proxy with this URL rejected the request itself with this status, for example because it
    /// refuses the tunnel or requires authentication.
    case refusedByProxy(String, status: Int)
    /// The response has a content type that isn't accepted.
    case contentType(String)
    /// The body is unchanged, as answer to a conditional request, with new caching information.
    case notModified(OriginCaching)
    /// The body has several content codings, or an unsupported one with this name.
    case contentCodings(String)
    /// The body doesn't conform to its declared content coding.
    case decompression(ZlibError)
    /// The body ends before its content coding does.
    case codingCutOff
    /// The response ends within its head, which libcurl treats as success.
    case headCutOff
    /// A decryptor of the rules rejected the body, for this reason.
    case undecryptable(String)
    /// The request lacks the header with this name, which a rule requires.
    case missingHeader(String)
    /// A range request was answered with something else, or not at all.
    case otherPart
    case emptyBody
    /// The final URL can't be represented.
    case badLocation(String)
    /// No loader supports the scheme.
    case scheme(String)
    /// A redirect leads to a URL with this scheme; only http and https are followed.
    case schemeOfRedirect(String)
    /// The header with this name can't be sent.
    case header(String)
    /// The URL or the arena was rejected with this error.
    case refused(ImageError)
    /// The coordinator canceled it.
    case cancelled
    /// The deadline of the job passed.
    case deadline
    /// Name lookups use most of the available threads.
    case tooManyLookups
    /// More concurrent jobs than this limit.
    case tooMany(Int)
    case shuttingDown
    /// A defect of this program.
    case defect(String)
}

/// Maps failures to the errors that callers get: the only such table.
extension DownloadFailure {
    var imageError: ImageError {
        switch self {
        case .transfer(let error): Self.imageError(error)
        case .addressForbidden:
            ImageError(
                .addressForbidden,
                "the address of this host, or of a redirect, is blocked by policy: start imagebus "
                    + "serve (with --only: the download process) with --allow-address IP:PORT or "
                    + "--allow-private-networks, and check --deny-address; get --private accepts "
                    + "the same options")
        case .sourceForbidden:
            ImageError(
                .sourceForbidden,
                "a redirect leads to a URL that the configuration does not allow as a source: "
                    + "add it to 'sources' in the configuration (serve --config)")
        case .tooManyRedirects(let limit):
            ImageError(.tooManyRedirects, "more than \(limit) redirects")
        case .bodyTooLarge(let limit):
            ImageError(
                .limitExceeded,
                "the body exceeds the \(limit) bytes that "
                    + "\(LimitSetting.body.rawValue) permits"
            ) {
                $0.limit = String(limit)
                $0.permitted = Int(limit)
                $0.setting = LimitSetting.body.rawValue
            }
        case .status(let head, let retryAfter): Self.imageError(head, retryAfter)
        case .refusedByProxy(let proxy, let status): Self.imageError(ofProxy: proxy, status)
        case .contentType(let type):
            ImageError(
                .invalidDownloadContentType,
                "the origin sent the content type '\(type.prefix(64))', which is not accepted by "
                    + "serve --\(DownloadSetting.acceptType.rawValue)"
            ) { $0.contentType = String(type.prefix(64)) }
        case .notModified(let caching): .notModified(caching)
        case .contentCodings(let names):
            ImageError(
                .protocolBroken,
                "the body has the content coding '\(names.prefix(64))', although none was "
                    + "requested; only a single gzip or deflate coding is supported")
        case .decompression(.corrupt(let text)):
            ImageError(.badEncoding, "the body does not match its content coding: \(text)")
        case .decompression(.outOfMemory): ImageError(.busy, "not enough memory to decode the body")
        case .codingCutOff: ImageError(.shortBody, "the compressed body is truncated")
        case .headCutOff:
            ImageError(.connectionBroken, "the response ends within its header")
        case .undecryptable(let text):
            ImageError(.badImageData, "the body cannot be decrypted: \(text)")
        case .missingHeader(let name):
            ImageError(
                .invalidDownloadOperation,
                "a configuration rule requires the header '\(name.prefix(64))', which the request "
                    + "does not have")
        case .otherPart:
            ImageError(
                .shortBody, "the body was interrupted, and the origin did not send the rest")
        case .emptyBody: .emptyBody
        case .badLocation(let text): ImageError(.protocolBroken, "invalid Location header: \(text)")
        case .scheme(let scheme):
            ImageError(.unsupportedScheme, "no loader accepts '\(scheme):'; use http or https")
        case .schemeOfRedirect(let scheme):
            ImageError(
                .unsupportedScheme,
                "a redirect leads to '\(scheme.prefix(32)):'; redirects are followed only to http "
                    + "and https, whatever loaders are configured")
        case .header(let name):
            ImageError(.invalidRequest, "the header '\(name.prefix(64))' cannot be sent")
        case .refused(let error): error
        case .cancelled: ImageError(.cancelled, "cancelled")
        case .deadline: ImageError(.deadlineExceeded, "the deadline passed during the download")
        case .tooManyLookups:
            ImageError(
                .busy, "too many DNS lookups are waiting for name servers")
        case .tooMany(let limit): ImageError(.busy, "this worker already has \(limit) downloads")
        case .shuttingDown: ImageError(.shuttingDown, "the download worker is shutting down")
        case .defect(let text): ImageError(.internalError, text)
        }
    }

    /// `Retry-After` applies to 429 and 503 (RFC 6585 §4, RFC 9110 §15.6.4); other responses with
    /// it are redirects.
    private static func imageError(_ head: ResponseHead, _ retryAfter: Int64?) -> ImageError {
        let meaning = [206: ": partial content", 304: ": not modified"][head.status]
        let unasked = meaning.map { "\($0), which was not requested" } ?? ""
        return ImageError(
            .invalidDownloadStatusCode, "the origin responded with \(head.status)\(unasked)"
        ) {
            $0.httpStatus = head.status
            if let retryAfter, head.status == 429 || head.status == 503 {
                $0.retryAfterWholeSeconds = UInt32(clamping: retryAfter)
            }
        }
    }

    private static func imageError(_ error: CurlError) -> ImageError {
        let advice = advice(error)
        let bytes = error.text.utf8.prefix(textBytesMax - advice.utf8.count)
        let text = String(decoding: bytes, as: UTF8.self)
        return ImageError(code(error.code), text + advice) {
            $0.curlCode = error.number
            if error.osError != 0 { $0.errno = error.osError }
        }
    }

    private static func code(_ code: CurlError.Code) -> ErrorCode {
        switch code {
        case .unsupportedProtocol: .unsupportedScheme
        case .malformedURL: .invalidURL
        case .nameNotResolved: .nameNotResolved
        case .couldNotConnect: .connectionFailed
        case .timedOut: .timedOut
        case .tlsFailed: .tlsFailed
        // Not an error of the URL, which can be retried once the file exists.
        case .ownFileFailed: .invalidDownloadOperation
        case .partialFile: .shortBody
        case .gotNothing, .connectionBroken: .connectionBroken
        case .tooManyRedirects: .tooManyRedirects
        case .fileSizeExceeded: .limitExceeded
        case .protocolBroken: .protocolBroken
        case .outOfMemory: .busy
        case .refusedByReceiver, .other: .internalError
        }
    }

    private static func advice(_ error: CurlError) -> String {
        if error.isPeerUnverified {
            return
                "; pass trusted authorities with serve --ca-file FILE or get --private --ca-file "
                + "FILE"
        }
        guard error.code == .ownFileFailed else { return "" }
        return "; correct the file as seen by the download process, in a container its own"
    }

    /// Truncation may split a character, whose replacement takes three bytes.
    private static let textBytesMax = MessageLimits.textBytesMax - 8
}

extension DownloadFailure {
    /// The error for a proxy's own response, which isn't the origin's: it has no `httpStatus` for
    /// rules to match. Temporary errors are retried.
    static func imageError(ofProxy url: String, _ status: Int) -> ImageError {
        let place = place(ofProxy: url)
        let mayPass = status == 429 || status >= 500
        return ImageError(
            mayPass ? .connectionFailed : .invalidDownloadOperation,
            "the proxy \(place) responded with \(status) itself, without contacting the origin: "
                + advice(status, mayPass: mayPass)
        ) {
            $0.proxy = place
            $0.proxyStatus = status
        }
    }

    private static func advice(_ status: Int, mayPass: Bool) -> String {
        if mayPass { return "it cannot reach the origin now" }
        if status == 407 {
            return "it requires a name and a password in its URL: "
                + "http://NAME:PASSWORD@HOST:PORT"
        }
        return "permit this host and port in the proxy, or start serve with another --proxy"
    }

    /// Returns host and port without a preceding password.
    private static func place(ofProxy url: String) -> String {
        let authority = url.split(separator: "://", maxSplits: 1).last ?? ""
        return authority.split(separator: "@").last.map(String.init) ?? ""
    }
}
