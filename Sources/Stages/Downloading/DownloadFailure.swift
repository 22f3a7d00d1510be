import Curl
import ImageModel
import Messages
import Zlib

/// Why a download ended without a body.
enum DownloadFailure: Error {
    /// libcurl says so.
    case transfer(CurlError)
    /// The guard refused every address, of the URL or of a redirect.
    case addressForbidden
    /// A redirect leads to a URL that is none of the permitted sources.
    case sourceForbidden
    /// More redirects than this.
    case tooManyRedirects(Int)
    /// The body is over the limit, by the origin's word or by count.
    case bodyTooLarge(Int64)
    /// The origin answered, but with no image; it may have said when to ask again, in seconds.
    case status(ResponseHead, retryAfter: Int64? = nil)
    /// The proxy of this URL refused by itself, with this status: a tunnel to the origin, or to do
    /// anything for who it does not know.
    case refusedByProxy(String, status: Int)
    /// The origin says that the body is of a type which is not accepted.
    case contentType(String)
    /// The origin says that nothing changed, having been asked whether, and who may keep that for
    /// how long.
    case notModified(OriginCaching)
    /// The body is in more than one content coding, or in one that is not undone: its name.
    case contentCodings(String)
    /// The body is not in the content coding that its head names.
    case decompression(ZlibError)
    /// The body ends before its content coding does.
    case codingCutOff
    /// The answer ends before its head does. libcurl takes that for a good end.
    case headCutOff
    /// The body is none that a decryptor of the rules undoes: what is wrong with it.
    case undecryptable(String)
    /// A rule requires the header of this name, and the request has none.
    case missingHeader(String)
    /// Asked for the rest of a body, the origin sent something else, or none.
    case otherPart
    /// The origin answered with no bytes.
    case emptyBody
    /// The last location cannot be named.
    case badLocation(String)
    /// No loader takes the scheme.
    case scheme(String)
    /// A redirect leads to a URL of this scheme; it is followed to http and https alone.
    case schemeOfRedirect(String)
    /// The header of this name cannot be sent.
    case header(String)
    /// The URL or the arena refused with its own words.
    case refused(ImageError)
    /// The coordinator wants it no longer.
    case cancelled
    /// The time of the job is over.
    case deadline
    /// Lookups of names take most of the threads that there may be.
    case tooManyLookups
    /// More jobs than this at once.
    case tooMany(Int)
    /// The worker ends.
    case shuttingDown
    /// A defect of ours.
    case defect(String)
}

/// The one table from what happened to what callers get.
extension DownloadFailure {
    var imageError: ImageError {
        switch self {
        case .transfer(let error): Self.imageError(error)
        case .addressForbidden:
            ImageError(
                .addressForbidden,
                "policy forbids the address of this host, or of a redirect; a stack may reach it "
                    + "whose imagebus serve (with --only: that of download) was started with "
                    + "--allow-address IP:PORT or --allow-private-networks, and where no "
                    + "--deny-address has it; get --private takes the same options")
        case .sourceForbidden:
            ImageError(
                .sourceForbidden,
                "a redirect leads to a URL that the sources of the configuration do not have: "
                    + "an operator adds them to 'sources' in the file of serve --config")
        case .tooManyRedirects(let limit):
            ImageError(.tooManyRedirects, "more than \(limit) redirects")
        case .bodyTooLarge(let limit):
            ImageError(
                .limitExceeded,
                "the body has more than the \(limit) bytes that "
                    + "\(LimitSetting.body.rawValue) permits",
                details: [
                    "limit": String(limit), "permitted": String(limit),
                    "setting": LimitSetting.body.rawValue,
                ])
        case .status(let head, let retryAfter): Self.imageError(head, retryAfter)
        case .refusedByProxy(let proxy, let status): Self.imageError(ofProxy: proxy, status)
        case .contentType(let type):
            ImageError(
                .invalidDownloadContentType,
                "the origin sent '\(type.prefix(64))', which is none of the content types of serve "
                    + "--\(DownloadSetting.acceptType.rawValue)",
                details: ["contentType": String(type.prefix(64))])
        case .notModified(let caching): .notModified(caching)
        case .contentCodings(let names):
            ImageError(
                .protocolBroken,
                "the body is in the content coding '\(names.prefix(64))', though none was asked "
                    + "for; one of gzip and deflate is undone, and no other")
        case .decompression(.corrupt(let text)):
            ImageError(.badEncoding, "the body is not in its content coding: \(text)")
        case .decompression(.outOfMemory): ImageError(.busy, "no memory to decode the body")
        case .codingCutOff: ImageError(.shortBody, "the body ends before its content coding does")
        case .headCutOff:
            ImageError(.connectionBroken, "the answer ends before its head does")
        case .undecryptable(let text):
            ImageError(.badImageData, "the body cannot be decrypted: \(text)")
        case .missingHeader(let name):
            ImageError(
                .invalidDownloadOperation,
                "a rule of the configuration requires the header '\(name.prefix(64))', which "
                    + "the request has not")
        case .otherPart:
            ImageError(
                .shortBody, "the body broke off, and the origin did not send the rest of it")
        case .emptyBody: .emptyBody
        case .badLocation(let text): ImageError(.protocolBroken, "the last location: \(text)")
        case .scheme(let scheme):
            ImageError(.unsupportedScheme, "no loader takes '\(scheme):'; http and https are taken")
        case .schemeOfRedirect(let scheme):
            ImageError(
                .unsupportedScheme,
                "a redirect leads to '\(scheme.prefix(32)):'; redirects are followed to http and "
                    + "https alone, whatever loaders there are")
        case .header(let name):
            ImageError(.invalidRequest, "the header '\(name.prefix(64))' cannot be sent")
        case .refused(let error): error
        case .cancelled: ImageError(.cancelled, "cancelled")
        case .deadline: ImageError(.deadlineExceeded, "the deadline passed during the download")
        case .tooManyLookups:
            ImageError(
                .busy, "too many names are being looked up that name servers do not answer for")
        case .tooMany(let limit): ImageError(.busy, "this worker has \(limit) downloads already")
        case .shuttingDown: ImageError(.shuttingDown, "the download worker is shutting down")
        case .defect(let text): ImageError(.internalError, text)
        }
    }

    /// `Retry-After` is said by 429 and 503 (RFC 6585 §4, RFC 9110 §15.6.4); other answers that
    /// have it are redirects.
    private static func imageError(_ head: ResponseHead, _ retryAfter: Int64?) -> ImageError {
        var details = ["httpStatus": String(head.status)]
        if let retryAfter, head.status == 429 || head.status == 503 {
            details["retryAfter"] = String(UInt32(clamping: retryAfter))
        }
        let meaning = [206: ": a part of the body", 304: ": nothing changed"][head.status]
        let unasked = meaning.map { "\($0), which it was not asked for" } ?? ""
        return ImageError(
            .invalidDownloadStatusCode, "the origin answered \(head.status)\(unasked)",
            details: details)
    }

    private static func imageError(_ error: CurlError) -> ImageError {
        var details = ["curl": String(error.number)]
        if error.osError != 0 { details["errno"] = String(error.osError) }
        let advice = advice(error)
        let bytes = error.text.utf8.prefix(textBytesMax - advice.utf8.count)
        let text = String(decoding: bytes, as: UTF8.self)
        return ImageError(code(error.code), text + advice, details: details)
    }

    private static func code(_ code: CurlError.Code) -> ErrorCode {
        switch code {
        case .unsupportedProtocol: .unsupportedScheme
        case .malformedURL: .invalidURL
        case .nameNotResolved: .nameNotResolved
        case .couldNotConnect: .connectionFailed
        case .timedOut: .timedOut
        case .tlsFailed: .tlsFailed
        // Not the fault of the URL, which is to be asked again once the file is there.
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
            return "; serve --ca-file FILE, or get --private --ca-file FILE, names authorities to "
                + "trust"
        }
        guard error.code == .ownFileFailed else { return "" }
        return "; the download process reads this file, in a container its own: put it right there"
    }

    /// A cut may split a character, whose replacement takes three bytes.
    private static let textBytesMax = MessageLimits.textBytesMax - 8
}

extension DownloadFailure {
    /// What a proxy refused by itself is no answer of the origin: it has no `httpStatus`, which
    /// rules could name. What may pass is tried again.
    static func imageError(ofProxy url: String, _ status: Int) -> ImageError {
        let place = place(ofProxy: url)
        let mayPass = status == 429 || status >= 500
        return ImageError(
            mayPass ? .connectionFailed : .invalidDownloadOperation,
            "the proxy \(place) answered \(status) by itself, and the origin was not asked: "
                + advice(status, mayPass: mayPass),
            details: ["proxy": place, "proxyStatus": String(status)])
    }

    private static func advice(_ status: Int, mayPass: Bool) -> String {
        if mayPass { return "it does not reach the origin now" }
        if status == 407 {
            return "it asks for a name and a password, which stand in its URL: "
                + "http://NAME:PASSWORD@HOST:PORT"
        }
        return "it has to permit this host and port, or serve has to be given another --proxy"
    }

    /// Host and port: a password may stand before them.
    private static func place(ofProxy url: String) -> String {
        let authority = url.split(separator: "://", maxSplits: 1).last ?? ""
        return authority.split(separator: "@").last.map(String.init) ?? ""
    }
}
