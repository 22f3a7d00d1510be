/// Who obtains the bytes of a URL, with all that this takes besides the URL.
public enum FetchLoader: Hashable, Sendable {
    /// The HTTP client.
    case http
    /// The reader of files.
    case file(FileRoot)
    /// The decoder of `data:`.
    case data
    /// The HTTP client, in the words of S3.
    indirect case s3(S3Place)
    /// Workers of somebody else's, of the pool of that name.
    case pool(String)

    /// What it does.
    public var kind: LoaderKind {
        switch self {
        case .http: .http
        case .file: .file
        case .data: .data
        case .s3: .s3
        case .pool: .pool
        }
    }

    /// Whether it is told the headers of a request.
    package var takesHeaders: Bool {
        switch self {
        case .http, .pool: true
        case .file, .data, .s3: false
        }
    }

    /// Throws `unsupportedScheme`. Which schemes a pool takes its grant says.
    package func check(scheme url: SourceURL) throws(ImageError) {
        guard kind == .pool || kind.schemes.contains(url.scheme) else {
            throw .noLoader(of: url)
        }
    }

    /// Throws what is wrong with a URL that it is to take, before any work begins:
    /// `unsupportedScheme`, or `invalidURL`.
    public func check(_ url: SourceURL) throws(ImageError) {
        try check(scheme: url)
        switch self {
        case .http, .pool: break
        case .file: _ = try FilePath(url)
        case .data: _ = try DataURL(url)
        case .s3: _ = try S3Object(url)
        }
    }
}
