public import FoundationEssentials
public import ImageModel

extension ImageRequest {
    /// Seconds until the request ends with `deadlineExceeded`: `timeoutMilliseconds`, rounded up.
    /// What that may not be, such as infinity, is refused with the request.
    public var timeoutInterval: TimeInterval {
        get { TimeInterval(timeoutMilliseconds) / 1_000 }
        set {
            let tooMany = TimeInterval(RequestLimits.timeoutMillisecondsMax) + 1
            let milliseconds = (newValue * 1_000).rounded(.up)
            // Not a number is no time at all.
            timeoutMilliseconds = milliseconds > 0 ? Int(min(milliseconds, tooMany)) : 0
        }
    }
}
