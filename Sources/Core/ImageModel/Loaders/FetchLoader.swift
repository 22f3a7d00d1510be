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

/// A `data:` URL taken apart (RFC 2397): `data:image/png;base64,iVBORw0…`.
public struct DataURL: Hashable, Sendable {
    /// With its parameters; `text/plain;charset=US-ASCII` where the URL says none.
    public let mediaType: String
    private let isBase64: Bool
    private let body: [UInt8]

    /// Bytes of a media type.
    static let typeBytesMax = 256

    /// Throws `invalidURL` where there is no comma, no media type that can be one, or a fragment.
    public init(_ url: SourceURL) throws(ImageError) {
        let text = url.withoutUserInfo.utf8.dropFirst(url.scheme.utf8.count + 1)
        guard url.userInfo == nil, let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw Self.fault("it is data:TYPE;base64,BYTES, or data:TYPE,TEXT")
        }
        guard !text.contains(UInt8(ascii: "#")) else {
            throw Self.fault("it has no fragment; # is written %23")
        }
        let (type, isBase64) = Self.takingMark(String(decoding: text[..<comma], as: UTF8.self))
        guard type.utf8.count <= Self.typeBytesMax, Self.isType(type) else {
            throw Self.fault("before the comma stands a media type such as image/png")
        }
        mediaType = type.isEmpty ? "text/plain;charset=US-ASCII" : type
        self.isBase64 = isBase64
        body = Array(text[comma...].dropFirst())
    }

    /// The bytes. Throws `invalidURL` where they are not written as the URL says.
    public func bytes() throws(ImageError) -> [UInt8] {
        guard let decoded = PercentCoding.decode(body) else {
            throw Self.fault("a % is followed by two hexadecimal digits")
        }
        guard isBase64 else { return decoded }
        guard let bytes = Base64.decode(decoded) else {
            throw Self.fault("its bytes are Base64 with its padding, without spaces (RFC 4648 §4)")
        }
        return bytes
    }

    private static func takingMark(_ text: String) -> (type: String, isBase64: Bool) {
        let mark = ";base64"
        guard text.utf8.count >= mark.utf8.count, text.suffix(mark.count).lowercased() == mark
        else { return (text, false) }
        return (String(text.dropLast(mark.count)), true)
    }

    /// Nothing, parameters alone, or a type of two parts with parameters.
    private static func isType(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let name = text.prefix { $0 != ";" }
        guard !name.isEmpty else { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { HTTPHeader.isToken($0) }
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "the data URL cannot be read: \(reason)")
    }
}

/// The file that a `file:` URL names (RFC 8089), as a path below the root of its loader.
public struct FilePath: Hashable, Sendable {
    /// Relative, decoded: `photos/a b.jpg`.
    public let text: String

    /// Throws `invalidURL` for a host that is not this one, a relative path, a directory, and what
    /// `PlacePath` does not take.
    public init(_ url: SourceURL) throws(ImageError) {
        guard url.hasAuthority, url.userInfo == nil,
            ["", "localhost"].contains(url.authorityText.lowercased())
        else {
            throw ImageError(
                .invalidURL, "a file URL has no host, or localhost: file:///photos/a.jpg")
        }
        let path = try PlacePath(url.afterAuthority).text
        guard !path.hasSuffix("/"), !path.hasPrefix("/") else {
            throw ImageError(.invalidURL, "the URL names a directory, and no file")
        }
        text = path
    }
}

/// The directory below which a loader reads files.
public struct FileRoot: Hashable, Sendable {
    /// An absolute path in the download process.
    public var path: String

    /// The scheme of imgproxy's URLs of local files, such as `local:///photos/a.jpg`.
    package static let localScheme = "local"
    /// The scheme of the watermark that an operator gives as a file. No URL of a stranger has it.
    package static let watermarkScheme = "watermark"

    /// Bytes of the path.
    public static let bytesMax = 1_024

    /// Takes a path as it is; see `isPath`.
    public init(path: String) { self.path = path }

    /// Whether a text can be a root: absolute, without a zero byte and without `.` and `..`.
    public static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= bytesMax && !text.utf8.contains(0)
            && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }
}

/// The path of a URL that names a place which only this stack looks up: a file or an object.
///
/// It means one place only: no query, no fragment, no `.` or `..` in whatever spelling, and no
/// slash or zero byte that is percent-encoded.
struct PlacePath {
    /// Decoded, without the slash at its begin; never empty.
    let text: String

    /// Bytes of the path once it is decoded, as S3 has it and Linux nearly.
    static let bytesMax = 1_024

    /// Of what follows the authority of a URL. Throws `invalidURL`.
    init(_ rest: some Collection<UInt8>) throws(ImageError) {
        guard rest.first == UInt8(ascii: "/") else { throw Self.fault("it has no path") }
        guard !rest.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw Self.fault("it has no query and no fragment; ? is written %3F, and # %23")
        }
        guard let bytes = PercentCoding.decode(rest.dropFirst()) else {
            throw Self.fault("a % is followed by two hexadecimal digits; % itself is written %25")
        }
        guard !bytes.isEmpty, bytes.count <= Self.bytesMax else {
            throw Self.fault("its path has 1 to \(Self.bytesMax) bytes")
        }
        let slashes = rest.count { $0 == UInt8(ascii: "/") } - 1
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes else {
            throw Self.fault("a slash is not percent-encoded")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Self.fault("its path has control characters")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.fault("its path is UTF-8")
        }
        let segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard
            !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { throw Self.fault("its path has no . and no ..") }
        self.text = text
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "the URL cannot name a file or an object: \(reason)")
    }
}
