public import ImageModel

extension ImageError {
    /// Something is full; `details` say in seconds when it may not be, within
    /// `SchedulerLimits.retryAfterSeconds`.
    public static func busy(
        _ what: String, seconds: Double = SchedulerLimits.retryAfterSeconds.lowerBound
    ) -> ImageError {
        let range = SchedulerLimits.retryAfterSeconds
        let seconds = min(max(seconds, range.lowerBound), range.upperBound)
        let tenths = Int((seconds * 10).rounded(.up))
        return ImageError(
            .busy, "\(what): try again later",
            details: ["retryAfter": "\(tenths / 10).\(tenths % 10)"])
    }
}
