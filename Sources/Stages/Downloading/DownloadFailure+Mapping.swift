import Curl
import ImageModel
import Messages
import Zlib

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
