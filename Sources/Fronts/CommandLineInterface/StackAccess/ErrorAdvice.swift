package import Model

extension ImageError {
    /// A line that suggests what to do next; `nil` if nothing can be done or the message already
    /// suggests it.
    package var advice: String? { includesAdvice ? nil : adviceOfCode }

    /// libcurl's number of an error in verifying a certificate, whose message names the options for
    /// trusted authorities.
    private static let unverifiedPeer: Int32 = 60

    private var adviceOfCode: String? {
        switch code {
        case .busy, .arenaFull, .shuttingDown, .workerLost: again
        case .connectionFailed, .nameNotResolved, .timedOut, .connectionBroken, .shortBody:
            "check whether the origin answers (curl -sI URL), and try again"
        case .invalidDownloadStatusCode: adviceOfStatus
        case .invalidURL: "pass a URL such as https://example.com/photo.jpg"
        case .unsupportedFormat where typedDetails.format != nil:
            // The error names the format, so there is no file to inspect.
            nil
        case .badImageData, .unsupportedFormat:
            "inspect the file: imagebus get URL --original -o FILE; file FILE"
        case .invalidDownloadResponse, .protocolBroken, .badEncoding:
            "inspect the response: curl -sv URL -o FILE"
        case .tooManyRedirects:
            "inspect the redirects (curl -sIL URL); serve --redirect-limit sets the maximum"
        case .tlsFailed where typedDetails.curlCode == Self.unverifiedPeer: nil
        case .tlsFailed: "trust a CA with --ca-file FILE of serve or of get --private"
        case .blacklisted:
            "retry with --option retry-failed; "
                + "imagebus failure-cache list shows when entries expire"
        case .limitExceeded: adviceOfLimit
        // The message says how to start workers.
        case .deadlineExceeded where typedDetails.pool != nil: nil
        case .deadlineExceeded: "raise it with --timeout 2m; imagebus status shows the queues"
        case .stepFailed: typedDetails.step.map { "leave out --\($0), or pass another value" }
        case .internalError, .protocolViolation:
            "check the log of imagebus serve; imagebus doctor checks the machine"
        case .versionMismatch: "use the same version of serve and this program: imagebus --version"
        case .unavailable: "start a stack with imagebus serve; imagebus doctor finds problems"
        // The messages of these errors always say what to do.
        case .addressForbidden, .invalidDownloadContentType, .poisoned, .sourceForbidden,
            .unsupportedScheme:
            nil
        case .cancelled, .cacheNotModified, .invalidDownloadOperation, .tokenInUse,
            .invalidRequest, .notSupported, .stale, .foreignFailure:
            nil
        }
    }

    private var again: String {
        guard let seconds = typedDetails.retryAfterSeconds, seconds < 1e6 else {
            return "try again in a moment; imagebus status shows the load"
        }
        let whole = max(1, Int(seconds.rounded(.up)))
        return "try again in \(whole) s; imagebus status shows the load"
    }

    private var adviceOfStatus: String? {
        switch typedDetails.httpStatus {
        case 401, 403: "send credentials with --header 'Authorization: …'; check with curl -sI URL"
        case 404, 410: "check the URL: curl -sI URL"
        case 429: again
        case .some(let status) where status >= 500: again
        default: "inspect the response: curl -sI URL"
        }
    }

    private var adviceOfLimit: String? {
        // The message already suggests what to do.
        guard typedDetails.limit != "decoderMemory" else { return nil }
        let setting = typedDetails.setting ?? typedDetails.limit ?? ""
        return LimitSetting(rawValue: setting).map { "serve --\($0.rawValue) sets this limit" }
            ?? "request less: a smaller image, --thumbnail WxH, or fewer at a time"
    }
}

extension Terminal {
    /// Prints a command's error, and on a separate line what to do next. `text` replaces the
    /// error's description.
    package static func complain(_ command: String, of failure: ImageError, text: String? = nil) {
        complain(command, text ?? failure.description)
        if let advice = failure.advice { complain(command, "next: \(advice)") }
    }

    /// Prints the error that ended a command, except that the reader closed the output. Returns the
    /// exit status.
    package static func fail(_ command: String, _ error: any Error) -> Int32 {
        switch error {
        case let error as OutputError:
            if !error.isUnread { complain(command, error) }
            return error.exitStatus
        case let error as ImageError:
            complain(command, of: error)
            return error.exitStatus
        default:
            complain(command, "\(error)")
            return ErrorCode.internalError.rule.exitStatus
        }
    }
}
