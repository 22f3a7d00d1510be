/// A loader: obtains the bytes of the URLs it accepts (SDWebImage's image loader).
public struct NamedLoader: Hashable, Sendable {
    /// The name by which requests and profiles select the loader.
    public let name: String
    /// Patterns of accepted URLs, restricted to `schemes`; `nil` accepts every URL with one of
    /// these schemes.
    public var patterns: [URLPattern]?
    /// URL schemes that the loader accepts.
    public var schemes: Set<String>
    /// How the loader obtains bytes. An S3 location has no credentials here.
    public var means: FetchLoader
    /// Path of the file with the S3 credentials.
    public var credentialsFile: String?

    /// The largest number of loaders in a configuration.
    public static let countMax = 64
    /// The largest number of patterns per loader.
    public static let patternsMax = 64

    /// Creates a loader that accepts all URLs of its schemes.
    public init(name: String, means: FetchLoader) {
        self.name = name
        self.means = means
        // Patterns with gs:// and named local files opt in to these schemes explicitly.
        schemes = means.kind.schemes.subtracting(["gs", FileRoot.watermarkScheme])
    }

    /// Whether the loader accepts a URL.
    func takes(_ url: SourceURL, _ target: URLTarget) -> Bool {
        schemes.contains(url.scheme)
            && patterns.map { URLPattern.permits(target, $0) } ?? true
    }

    /// Whether acceptance depends on how the origin interprets the path of the URL.
    func isAmbiguous(_ url: SourceURL, _ target: URLTarget) -> Bool {
        schemes.contains(url.scheme) && patterns?.contains { $0.isAmbiguous(target) } ?? false
    }

    /// The built-in HTTP loader, which is tried last.
    public static let builtIn = NamedLoader(name: "http", means: .http)
}

extension Configuration {
    /// The loader names that requests and profiles may use.
    public var loaderNames: Set<String> { Set((loaders + [NamedLoader.builtIn]).map(\.name)) }

    /// Returns the loader for a URL: the named one, else the last loader in the file that accepts
    /// the URL, else the built-in one. Returns a failure if the URL is invalid or not accepted.
    /// Throws if no loader has that name or its credentials can't be read.
    func loader(
        _ name: String?, for url: SourceURL
    ) throws(ImageError) -> Result<FetchLoader, ImageError> {
        let asked = try named(name) ?? loaders.reversed() + [NamedLoader.builtIn]
        let target = URLTarget(url)
        if asked.contains(where: { $0.isAmbiguous(url, target) }) {
            return .failure(.ambiguousPath)
        }
        guard let loader = asked.first(where: { $0.takes(url, target) }) else {
            return .failure(refusal(of: url, name))
        }
        do throws(ImageError) {
            try loader.means.check(url)
        } catch {
            return .failure(error)
        }
        return .success(try means(of: loader))
    }

    private func named(_ name: String?) throws(ImageError) -> [NamedLoader]? {
        guard let name else { return nil }
        guard let loader = (loaders + [NamedLoader.builtIn]).first(where: { $0.name == name })
        else {
            throw Self.unknown("loader", loaderNames)
        }
        return [loader]
    }

    private func refusal(of url: SourceURL, _ name: String?) -> ImageError {
        let scheme = url.scheme.prefix(32)
        if let name {
            return ImageError(
                .unsupportedScheme,
                "the loader \(name) does not accept this \(scheme) URL: omit the loader, or choose "
                    + "another one")
        }
        guard loaders.contains(where: { $0.schemes.contains(url.scheme) }) else {
            return .noLoader(of: url)
        }
        return ImageError(
            .unsupportedScheme,
            "no loader accepts this \(scheme) URL: add a matching pattern to 'match' of a "
                + "loader in the configuration (serve --config)")
    }

    private func means(of loader: NamedLoader) throws(ImageError) -> FetchLoader {
        guard case .s3(var place) = loader.means, let path = loader.credentialsFile else {
            return loader.means
        }
        guard let text = secrets[path], let read = S3Credentials(profileFile: text) else {
            throw missingSecret(path)
        }
        place.credentials = read
        return .s3(place)
    }
}

// Loaders backed by external workers.
extension Configuration {
    /// Pools that a loader may use.
    package var loaderPools: [WorkerPool] {
        pools.filter { $0.kind == .download && $0.trust == .external }
    }

    /// Pools that a cache may use.
    package var cachePools: [WorkerPool] {
        pools.filter { $0.kind == .cache && $0.trust == .external }
    }

    /// Copies each pool's granted schemes to the loader that uses it, and marks the pool as a
    /// loader, because the file configures loaders and pools in separate sections.
    package mutating func grantSchemes() {
        for index in loaders.indices {
            guard case .pool(let name) = loaders[index].means else { continue }
            for place in pools.indices where pools[place].name.text == name {
                let schemes = pools[place].grant.schemes ?? []
                loaders[index].schemes = Set(schemes.map { $0.lowercased() })
                pools[place].isLoader = true
            }
        }
    }
}

extension LoadTerms {
    /// Throws `invalidDownloadOperation` if rules set transfer options that external workers do not
    /// receive. The options would silently be ignored, and they may contain other parties' secrets.
    func checkTransferOfPool() throws(ImageError) {
        guard loader.kind == .pool else { return }
        var sent = transfer
        // The coordinator removes these headers itself.
        sent.removedHeaders = []
        guard !sent.isEmpty else { return }
        throw ImageError(
            .invalidDownloadOperation,
            "a configuration rule for this transfer has keys that plug-in workers do not receive: "
                + "remove request, response, decrypt, credentials, client-certificate, cookies "
                + "and tls-verify from it")
    }
}

// Coders: decoder pools by name.
extension Configuration {
    /// Names of coders that requests and profiles may use: the built-in and the configured ones.
    package var coderNames: Set<String> {
        let ofEveryStack = [WorkerKind.decode.name, PoolName.vector.text]
        return Set(ofEveryStack + pools.filter { $0.kind == .decode }.map(\.name.text))
    }

    /// Returns `names` if all of them exist. Otherwise throws an error that lists the known names.
    func coders(_ names: [String]) throws(ImageError) -> [String] {
        let known = names.isEmpty ? [] : coderNames
        guard names.allSatisfy(known.contains) else { throw Self.unknown("coder", known) }
        return names
    }
}
