extension PixelSize {
    /// Throws where a step may not have it as its box.
    func checkAsBox(of step: String) throws(ImageError) {
        guard isPositive else {
            throw ImageError(.invalidRequest, "\(step): width and height must be positive")
        }
        guard max(width, height) <= RequestLimits.sideMax else {
            throw .tooLarge(step, limit: RequestLimits.sideMax, "pixels a side")
        }
    }
}

extension ImageError {
    static func tooLarge(_ step: String, limit: Int, _ unit: String) -> ImageError {
        ImageError(
            .limitExceeded, "\(step): at most \(limit) \(unit) are accepted",
            details: ["limit": "\(limit)", "step": step])
    }
}

/// A whole number in a transformer key.
func sixDecimals(_ value: Int) -> String { "\(value).000000" }
