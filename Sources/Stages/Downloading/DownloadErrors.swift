import Curl
import Model
import Zlib

// The errors of downloads that several places throw.
extension ImageError {
    /// Every address of the URL or of a redirect was blocked.
    static var addressBlocked: ImageError {
        ImageError(
            .addressForbidden,
            "the address of this host, or of a redirect, is blocked by policy: start imagebus "
                + "serve (with --only: the download process) with --allow-address IP:PORT or "
                + "--allow-private-networks, and check --deny-address; get --private accepts "
                + "the same options")
    }

    /// The body exceeds this limit, either as announced or as received.
    static func bodyTooLarge(_ limit: Int64) -> ImageError {
        ImageError(
            .limitExceeded,
            "the body exceeds the \(limit) bytes that "
                + "\(LimitSetting.body.rawValue) permits"
        ) {
            $0.limit = String(limit)
            $0.permitted = Int(limit)
            $0.setting = LimitSetting.body.rawValue
        }
    }

    /// The origin responded with this status instead of an image.
    static func status(_ status: Int) -> ImageError {
        let meaning = [206: ": partial content", 304: ": not modified"][status]
        let unasked = meaning.map { "\($0), which was not requested" } ?? ""
        return ImageError(
            .invalidDownloadStatusCode, "the origin responded with \(status)\(unasked)"
        ) { $0.httpStatus = status }
    }

    /// The body doesn't conform to its declared content coding.
    static func decompression(_ error: ZlibError) -> ImageError {
        switch error {
        case .corrupt(let text):
            ImageError(.badEncoding, "the body does not match its content coding: \(text)")
        case .outOfMemory: ImageError(.busy, "not enough memory to decode the body")
        }
    }

    /// A decryptor of the rules rejected the body, for this reason.
    static func undecryptable(_ text: String) -> ImageError {
        ImageError(.badImageData, "the body cannot be decrypted: \(text)")
    }

    /// A range request was answered with something else, or not at all.
    static var otherPart: ImageError {
        ImageError(.shortBody, "the body was interrupted, and the origin did not send the rest")
    }

    /// The final URL can't be represented.
    static func badLocation(_ text: String) -> ImageError {
        ImageError(.protocolBroken, "invalid Location header: \(text)")
    }

    static var cancelled: ImageError { ImageError(.cancelled, "cancelled") }

    static var shuttingDown: ImageError {
        ImageError(.shuttingDown, "the download worker is shutting down")
    }

    /// A defect of this program.
    static func defect(_ text: String) -> ImageError { ImageError(.internalError, text) }
}

extension ImageError {
    /// Converts an error of libcurl.
    init(transfer error: CurlError) {
        let advice = Self.advice(error)
        let bytes = error.text.utf8.prefix(Self.textBytesMax - advice.utf8.count)
        let text = String(decoding: bytes, as: UTF8.self)
        self.init(Self.code(error.code), text + advice) {
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

extension ImageError {
    /// The error for a response with which the proxy rejected the request itself, for example
    /// because it refuses the tunnel or requires authentication. It isn't the origin's, so it has
    /// no `httpStatus` for rules to match. Temporary errors are retried.
    static func refusedByProxy(_ url: String, status: Int) -> ImageError {
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
