import CommandLineInterface
package import ImageModel

extension ImageError {
    /// A line that suggests what to do next; `nil` if nothing can be done or the message already
    /// suggests it.
    package var advice: String? {
        guard !message.contains("imagebus "), !message.contains("--") else { return nil }
        return adviceOfCode
    }

    private var adviceOfCode: String? {
        switch code {
        case .busy, .arenaFull, .shuttingDown, .workerLost: Self.again(details["retryAfter"])
        case .connectionFailed, .nameNotResolved, .timedOut, .connectionBroken, .shortBody:
            "look whether the origin answers (curl -sI URL), and try again"
        case .invalidDownloadStatusCode: adviceOfStatus
        case .invalidURL: "name a URL such as https://example.com/photo.jpg"
        case .unsupportedScheme: "name a URL of http or https, or an image as imagebus get - <FILE"
        case .badImageData, .unsupportedFormat:
            "look at what came: imagebus get URL --original -o FILE, and file FILE"
        case .invalidDownloadContentType:
            "look at its type (curl -sI URL); serve --accept-type says which are taken"
        case .invalidDownloadResponse, .protocolBroken, .badEncoding:
            "look at what the origin answers: curl -sv URL -o FILE"
        case .tooManyRedirects:
            "look where they go (curl -sIL URL); serve --redirect-limit says how many are followed"
        case .tlsFailed: "--ca-file FILE of get --private or of serve names whom to trust"
        case .blacklisted, .poisoned:
            "imagebus blacklist list says for how long; imagebus blacklist remove URL ends it"
        case .addressForbidden:
            "imagebus serve --allow-address IP:PORT permits one private address"
        case .sourceForbidden: "permit it under sources: in the file of imagebus serve --config"
        case .limitExceeded: adviceOfLimit
        case .deadlineExceeded: "--timeout 2m gives it more time; imagebus status says what waits"
        case .stepFailed: details["step"].map { "leave out --\($0), or give it another value" }
        case .internalError, .protocolViolation:
            "the log of imagebus serve says more; imagebus doctor looks at the machine"
        case .versionMismatch: "start serve and this program from one version: imagebus --version"
        case .unavailable: "imagebus serve runs a stack; imagebus doctor looks for what is wrong"
        case .cancelled, .cacheNotModified, .invalidDownloadOperation, .tokenInUse,
            .invalidRequest, .notSupported, .stale, .foreignFailure:
            nil
        }
    }

    private static func again(_ seconds: String?) -> String {
        guard let seconds = seconds.flatMap(Double.init), seconds.isFinite, seconds < 1e6 else {
            return "try again in a moment; imagebus status says what is going on"
        }
        let whole = max(1, Int(seconds.rounded(.up)))
        return "try again in \(whole) s; imagebus status says what is going on"
    }

    private var adviceOfStatus: String? {
        switch details["httpStatus"].flatMap({ Int($0) }) {
        case 401, 403: "--header 'Authorization: …' says who asks; look at it with curl -sI URL"
        case 404, 410: "look whether the URL is right: curl -sI URL"
        case 429: Self.again(details["retryAfter"])
        case .some(let status) where status >= 500: Self.again(details["retryAfter"])
        default: "look at what the origin answers: curl -sI URL"
        }
    }

    private var adviceOfLimit: String? {
        // The message already suggests what to do.
        guard details["limit"] != "decoderMemory" else { return nil }
        let setting = details["setting"] ?? details["limit"] ?? ""
        return LimitSetting(rawValue: setting).map { "serve --\($0.rawValue) sets that limit" }
            ?? "ask for less: a smaller image, --thumbnail WxH, or fewer at a time"
    }
}

extension Terminal {
    /// Prints a command's error, and on a separate line what to do next. `text` replaces the
    /// error's description.
    package static func complain(_ command: String, of failure: ImageError, text: String? = nil) {
        complain(command, text ?? failure.description)
        if let advice = failure.advice { complain(command, "next: \(advice)") }
    }
}
