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
    /// Asks a worker of somebody else's.
    case pool

    /// The schemes that it takes; those of a pool are what the pool is granted.
    public var schemes: Set<String> {
        switch self {
        case .http: ["http", "https"]
        case .file: ["file", "local", FileRoot.watermarkScheme]
        case .data: ["data"]
        case .s3: ["s3", "gs"]
        case .pool: []
        }
    }
}
