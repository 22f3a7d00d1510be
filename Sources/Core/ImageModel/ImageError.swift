/// A failure as the caller sees it.
public struct ImageError: Error, Hashable, Sendable {
    /// Which one.
    public var code: ErrorCode
    /// One sentence for people: what happened, and what to do where that is known.
    public var message: String
    /// Facts by name: `httpStatus`, `contentType`, `limit`, `step`, `attempt`, …
    public var details: [String: String]

    /// Names the failure; details are few and short (`MessageLimits`).
    public init(_ code: ErrorCode, _ message: String, details: [String: String] = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// Whether the same request may succeed later; origins that answer 429 or 5xx may recover.
    public var retryable: Bool { originMayRecover || code.rule.retryable }

    /// The exit status of the command line (PROTOCOL §9): 75 where the origin may recover.
    public var exitStatus: Int32 { originMayRecover ? 75 : code.rule.exitStatus }

    private var originMayRecover: Bool {
        guard code == .invalidDownloadStatusCode,
            let status = details["httpStatus"].flatMap({ Int($0) })
        else { return false }
        return status >= 500 || status == 429
    }
}

extension ImageError: CustomStringConvertible {
    /// `badImageData (1001): not an image`
    public var description: String { "\(code.rule.name) (\(code.rawValue)): \(message)" }
}
