/// What a loader does to get the bytes of a URL.
public enum LoaderKind: String, Hashable, Sendable, CaseIterable {
    /// Asks an HTTP server.
    case http
    /// Reads a file below a directory.
    case file
    /// Takes the bytes that are in the URL itself (RFC 2397).
    case data
    /// Asks an S3 server for an object.
    case s3

    /// The schemes that it takes.
    public var schemes: Set<String> {
        switch self {
        case .http: ["http", "https"]
        case .file: ["file"]
        case .data: ["data"]
        case .s3: ["s3"]
        }
    }
}
