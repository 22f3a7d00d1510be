/// A failure as the caller sees it.
public struct ImageError: Error, Hashable, Sendable {
    /// Which one.
    public var code: ErrorCode
    /// One sentence for people: what happened, and what to do where that is known.
    public var message: String
    /// Facts by name: `httpStatus`, `contentType`, `limit`, `step`, `attempt`, …
    public var details: [String: String]
    /// How a worker of somebody else's calls it; `nil` where none failed, or did not say.
    public var foreign: ForeignFailure?

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

    /// Whose number `number` is: SDWebImage's, ours, or that of who wrote the worker that failed.
    public var domain: String { named?.domain ?? code.domain }

    /// Which failure of its domain.
    public var number: Int64 { named?.code ?? Int64(code.rawValue) }

    /// Whether the URL is not asked again for a while, where the configuration does not say.
    package var blacklists: Bool {
        named?.blocks ?? (code.rule.blacklists && !isOfEmptyBody)
    }

    /// That of a body without bytes, which an origin may send for a moment.
    public static let emptyBody = ImageError(
        .badImageData, "the body is empty: Image data is nil", details: ["part": "body"])

    private var isOfEmptyBody: Bool { code == .badImageData && details["part"] == "body" }

    private var named: ForeignFailure? { code == .foreignFailure ? foreign : nil }

    private var originMayRecover: Bool {
        guard code == .invalidDownloadStatusCode,
            let status = details["httpStatus"].flatMap({ Int($0) })
        else { return false }
        return status >= 500 || status == 429
    }
}

extension ImageError: CustomStringConvertible {
    /// `badImageData (1001): not an image`, or `PhotosErrorDomain (10001): no such image`
    public var description: String {
        "\(named?.domain ?? code.rule.name) (\(number)): \(message)"
    }
}
