package import ImageModel

extension ImageError {
    /// The error of a request whose overlay cannot be had. An error that only says to ask the stack
    /// again stays as it is.
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
