import ImageModel

/// Why loads of a source are refused.
struct Refusal: Hashable, Sendable {
    let error: ErrorCode
    /// The origin's status, where that was the error.
    let httpStatus: String?
    /// Only loads that need its pixels are refused: its header was good.
    let isOfPixels: Bool

    init(_ error: ImageError) {
        (self.error, isOfPixels) = (error.code, error.damagesPixelsOnly)
        httpStatus = error.details["httpStatus"].flatMap { UInt16($0) }.map { String($0) }
    }

    /// What a load is told that is refused for it so many seconds later.
    func told(after seconds: Int) -> ImageError {
        let reason = error.rule.name
        var told = ImageError(
            .blacklisted,
            "Image url is blacklisted\(isOfPixels ? " where its pixels are needed" : ""): "
                + "it failed before with \(reason); the option retry-failed asks again",
            details: ["reason": reason, "age": String(seconds)])
        told.details["httpStatus"] = httpStatus
        return told
    }
}
