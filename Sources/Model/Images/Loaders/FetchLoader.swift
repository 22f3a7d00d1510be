/// The loader that obtains the bytes of a URL, with all parameters that it needs besides the URL.
public enum FetchLoader: Hashable, Sendable {
    /// The HTTP client.
    case http
    /// The file loader.
    case file(FileRoot)
    /// The `data:` decoder.
    case data
    /// The HTTP client with S3 requests.
    indirect case s3(S3Place)
    /// Plug-ins, in the pool of that name.
    case pool(String)

    /// The kind of the loader.
    public var kind: LoaderKind {
        switch self {
        case .http: .http
        case .file: .file
        case .data: .data
        case .s3: .s3
        case .pool: .pool
        }
    }

    /// Whether the loader receives the headers of the request.
    package var takesHeaders: Bool {
        switch self {
        case .http, .pool: true
        case .file, .data, .s3: false
        }
    }

    /// Throws `unsupportedScheme`. The schemes of a pool are determined by its grant.
    package func check(scheme url: SourceURL) throws(ImageError) {
        guard kind == .pool || kind.schemes.contains(url.scheme) else {
            throw .noLoader(of: url)
        }
    }

    /// Validates a URL before any work starts. Throws `unsupportedScheme` or `invalidURL`.
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

/// The kind of a loader.
public enum LoaderKind: String, Hashable, Sendable, CaseIterable {
    /// Requests from an HTTP server.
    case http
    /// Reads a file below a directory.
    case file
    /// Decodes the bytes in the URL itself (RFC 2397).
    case data
    /// Requests an object from an S3 server.
    case s3
    /// Delegates to a plug-in.
    case pool

    /// The supported schemes; those of a pool are determined by its grant.
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

extension ImageError {
    /// The error for a URL whose scheme no loader supports.
    public static func noLoader(of url: SourceURL) -> ImageError {
        let scheme = url.scheme.prefix(32)
        let kind = LoaderKind(rawValue: url.scheme)
        let isKnown = kind != .http && kind?.schemes.contains(url.scheme) == true
        let advice =
            isKnown
            ? "add a loader of kind '\(scheme)' to 'loaders' in the configuration "
                + "(serve --config)"
            : "use http or https; file, data and s3 require an entry in 'loaders' of the "
                + "configuration (serve --config)"
        return ImageError(.unsupportedScheme, "no loader accepts \(scheme) URLs: \(advice)")
    }
}

/// A parsed `data:` URL (RFC 2397): `data:image/png;base64,iVBORw0…`.
public struct DataURL: Hashable, Sendable {
    /// The media type with its parameters; `text/plain;charset=US-ASCII` by default.
    public let mediaType: String
    private let isBase64: Bool
    private let body: [UInt8]

    /// The maximum number of bytes of a media type.
    static let typeBytesMax = 256

    /// Throws `invalidURL` if there is no comma, an invalid media type, or a fragment.
    public init(_ url: SourceURL) throws(ImageError) {
        let text = url.withoutUserInfo.utf8.dropFirst(url.scheme.utf8.count + 1)
        guard url.userInfo == nil, let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw Self.fault("expected data:TYPE;base64,BYTES or data:TYPE,TEXT")
        }
        guard !text.contains(UInt8(ascii: "#")) else {
            throw Self.fault("fragments are not allowed; write # as %23")
        }
        let (type, isBase64) = Self.takingMark(String(decoding: text[..<comma], as: UTF8.self))
        guard type.utf8.count <= Self.typeBytesMax, Self.isType(type) else {
            throw Self.fault("the part before the comma must be a media type such as image/png")
        }
        mediaType = type.isEmpty ? "text/plain;charset=US-ASCII" : type
        self.isBase64 = isBase64
        body = Array(text[comma...].dropFirst())
    }

    /// Returns the decoded bytes. Throws `invalidURL` if they are not encoded as declared.
    public func bytes() throws(ImageError) -> [UInt8] {
        guard let decoded = PercentCoding.decode(body) else {
            throw Self.fault("% must be followed by two hexadecimal digits")
        }
        guard isBase64 else { return decoded }
        guard let bytes = Base64.decode(decoded) else {
            throw Self.fault("expected Base64 with padding and without spaces (RFC 4648 §4)")
        }
        return bytes
    }

    private static func takingMark(_ text: String) -> (type: String, isBase64: Bool) {
        let mark = ";base64"
        guard text.utf8.count >= mark.utf8.count, text.suffix(mark.count).lowercased() == mark
        else { return (text, false) }
        return (String(text.dropLast(mark.count)), true)
    }

    /// Returns whether the text is empty, parameters only, or a two-part type with parameters.
    private static func isType(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let name = text.prefix { $0 != ";" }
        guard !name.isEmpty else { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { HTTPHeader.isToken($0) }
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "invalid data URL: \(reason)")
    }
}

/// The file of a `file:` URL (RFC 8089), as a path relative to the root of its loader.
public struct FilePath: Hashable, Sendable {
    /// The relative path, percent-decoded: `photos/a b.jpg`.
    public let text: String

    /// Throws `invalidURL` for a remote host, a relative path, a directory, and anything
    /// `PlacePath` rejects.
    public init(_ url: SourceURL) throws(ImageError) {
        guard url.hasAuthority, url.userInfo == nil,
            ["", "localhost"].contains(url.authorityText.lowercased())
        else {
            throw ImageError(
                .invalidURL,
                "the host of a file URL must be empty or localhost, such as in file:///photos/a.jpg"
            )
        }
        let path = try PlacePath(url.afterAuthority).text
        guard !path.hasSuffix("/"), !path.hasPrefix("/") else {
            throw ImageError(.invalidURL, "the URL refers to a directory, not a file")
        }
        text = path
    }
}

/// The directory below which a loader reads files.
public struct FileRoot: Hashable, Sendable {
    /// An absolute path in the download process.
    public var path: String

    /// The scheme of imgproxy URLs for local files, such as `local:///photos/a.jpg`.
    package static let localScheme = "local"
    /// The scheme of a watermark that an operator configures as a file. URLs of clients never have
    /// it.
    package static let watermarkScheme = "watermark"

    /// The maximum number of bytes of the path.
    public static let bytesMax = 1_024

    /// Accepts any path; see `isPath`.
    public init(path: String) { self.path = path }

    /// Returns whether a text is a valid root: absolute, without null bytes and without `.` and
    /// `..`.
    public static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= bytesMax && !text.utf8.contains(0)
            && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }
}

/// The path of a URL that only this stack resolves: a file or an object.
///
/// It is unambiguous: no query, no fragment, no `.` or `..` in any encoding, and no percent-encoded
/// slash or null byte.
struct PlacePath {
    /// The decoded path without its leading slash; never empty.
    let text: String

    /// The maximum length in bytes once decoded, which is S3's limit and close to that of Linux.
    static let bytesMax = 1_024

    /// Parses the part of a URL after the authority. Throws `invalidURL`.
    init(_ rest: some Collection<UInt8>) throws(ImageError) {
        guard rest.first == UInt8(ascii: "/") else { throw Self.fault("the path is missing") }
        guard !rest.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw Self.fault("queries and fragments are not allowed; write ? as %3F and # as %23")
        }
        guard let bytes = PercentCoding.decode(rest.dropFirst()) else {
            throw Self.fault("% must be followed by two hexadecimal digits; write % itself as %25")
        }
        guard !bytes.isEmpty, bytes.count <= Self.bytesMax else {
            throw Self.fault("the path must have 1 to \(Self.bytesMax) bytes")
        }
        let slashes = rest.count { $0 == UInt8(ascii: "/") } - 1
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes else {
            throw Self.fault("slashes must not be percent-encoded")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Self.fault("the path contains control characters")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.fault("the path is not valid UTF-8")
        }
        let segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard
            !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { throw Self.fault("the path must not contain . or .. segments") }
        self.text = text
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "invalid URL of a file or object: \(reason)")
    }
}
