package import ImageModel

extension ImageError {
    /// Why a request fails whose overlay cannot be had. What says nothing of the overlay, but that
    /// the stack should be asked again, stays what it is.
    package static func overlay(_ error: ImageError, url text: String) -> ImageError {
        guard error.code.admitsFallback else { return error }
        let url = try? SourceURL(text)
        var failure = ImageError(
            .stepFailed,
            "overlay: the image to be laid over\(url.map { " at \($0.forLogs)" } ?? "") "
                + "cannot be had: \(error.code.rule.name)",
            details: ["step": "overlay", "overlay": error.code.rule.name])
        failure.message = String(failure.message.prefix(400))
        if let status = error.details["httpStatus"] { failure.details["httpStatus"] = status }
        return failure
    }
}
