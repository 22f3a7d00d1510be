extension ImageError {
    /// Nobody takes the scheme of a URL.
    public static func noLoader(of url: SourceURL) -> ImageError {
        let scheme = url.scheme.prefix(32)
        let kind = LoaderKind(rawValue: url.scheme)
        let isKnown = kind != .http && kind?.schemes.contains(url.scheme) == true
        let advice =
            isKnown
            ? "an operator adds a loader of kind '\(scheme)' to 'loaders' in the file of serve "
                + "--config"
            : "http and https are taken, and file, data and s3 where an operator adds them to "
                + "'loaders' in the file of serve --config"
        return ImageError(.unsupportedScheme, "no loader takes \(scheme) URLs: \(advice)")
    }
}
