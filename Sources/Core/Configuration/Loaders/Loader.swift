public import ImageModel

/// Who obtains the bytes of some URLs: SDWebImage's loader.
public struct Loader: Hashable, Sendable {
    /// What a request or a profile calls it.
    public let name: String
    /// URLs that it takes, of its schemes; `nil`: all of them.
    public var patterns: [URLPattern]?
    /// Schemes of these URLs.
    public var schemes: Set<String>
    /// What it does; of S3 without credentials.
    public var means: FetchLoader
    /// The file with the credentials of S3.
    public var credentialsFile: String?

    /// Loaders of one configuration.
    public static let countMax = 64
    /// Patterns of one loader.
    public static let patternsMax = 64

    /// Describes a loader that takes all URLs of its schemes.
    public init(name: String, means: FetchLoader) {
        self.name = name
        self.means = means
        // Only who names gs:// in a pattern, or local files by name, means these.
        schemes = means.kind.schemes.subtracting(["gs", FileRoot.watermarkScheme])
    }

    /// Whether a URL is one of its own.
    func takes(_ url: SourceURL, _ target: URLTarget) -> Bool {
        schemes.contains(url.scheme)
            && patterns.map { URLPattern.permits(target, $0) } ?? true
    }

    /// Whether it depends on how the origin reads the path whether a URL is one of its own.
    func isInDoubt(_ url: SourceURL, _ target: URLTarget) -> Bool {
        schemes.contains(url.scheme) && patterns?.contains { $0.isInDoubt(target) } ?? false
    }

    /// The loader of every stack, which is asked last.
    public static let builtIn = Loader(name: "http", means: .http)
}
