public import ImageModel

extension ImageError {
    /// What `busy` tells a client: at least and at most so many seconds.
    public static let retryAfterSeconds = 0.1...30.0

    /// Something is full; `details` say in seconds when it may not be, within
    /// `retryAfterSeconds`.
    public static func busy(
        _ what: String, seconds: Double = retryAfterSeconds.lowerBound
    ) -> ImageError {
        let range = retryAfterSeconds
        let seconds = min(max(seconds, range.lowerBound), range.upperBound)
        let tenths = Int((seconds * 10).rounded(.up))
        return ImageError(
            .busy, "\(what): try again later",
            details: ["retryAfter": "\(tenths / 10).\(tenths % 10)"])
    }
}
