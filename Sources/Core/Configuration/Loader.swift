public import ImageModel
package import Messages

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

extension Configuration {
    /// Names that a request and a profile may say.
    public var loaderNames: Set<String> { Set((loaders + [Loader.builtIn]).map(\.name)) }

    /// Who obtains the bytes of a URL: the loader of this name, else the last of the file that
    /// takes the URL, else the built-in one; or what is wrong with the URL. Throws where there is
    /// no loader of that name, and where its credentials cannot be read.
    func loader(
        _ name: String?, for url: SourceURL
    ) throws(ImageError) -> Result<FetchLoader, ImageError> {
        let asked = try named(name) ?? loaders.reversed() + [Loader.builtIn]
        let target = URLTarget(url)
        if asked.contains(where: { $0.isInDoubt(url, target) }) { return .failure(.ambiguousPath) }
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

    private func named(_ name: String?) throws(ImageError) -> [Loader]? {
        guard let name else { return nil }
        guard let loader = (loaders + [Loader.builtIn]).first(where: { $0.name == name }) else {
            throw Self.unknown("loader", loaderNames)
        }
        return [loader]
    }

    private func refusal(of url: SourceURL, _ name: String?) -> ImageError {
        let scheme = url.scheme.prefix(32)
        if let name {
            return ImageError(
                .unsupportedScheme,
                "the loader \(name) does not take this \(scheme) URL: leave its name out, or name "
                    + "another one")
        }
        guard loaders.contains(where: { $0.schemes.contains(url.scheme) }) else {
            return .noLoader(of: url)
        }
        return ImageError(
            .unsupportedScheme,
            "no loader takes this \(scheme) URL: an operator adds a pattern for it to 'match' of a "
                + "loader in the file of serve --config")
    }

    private func means(of loader: Loader) throws(ImageError) -> FetchLoader {
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

// Loaders that are workers of somebody else's.
extension Configuration {
    /// Pools that a loader may name.
    package var loaderPools: [WorkerPool] {
        pools.filter { $0.kind == .download && $0.trust == .foreign }
    }

    /// Pools that a cache may name.
    package var cachePools: [WorkerPool] {
        pools.filter { $0.kind == .cache && $0.trust == .foreign }
    }

    /// Loaders that name a pool take the schemes that it is granted, and the pool is theirs: what
    /// the file says of one in two places.
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
    /// Throws `invalidDownloadOperation` where rules say of a transfer what the workers of somebody
    /// else's that make it are not told: it would silently not be done, and has secrets of others.
    func checkTransferOfPool() throws(ImageError) {
        guard loader.kind == .pool else { return }
        var told = transfer
        // The coordinator itself takes these out.
        told.removedHeaders = []
        guard !told.isEmpty else { return }
        throw ImageError(
            .invalidDownloadOperation,
            "a rule of the configuration says of this transfer what workers of somebody else's are "
                + "not told: an operator takes request, response, decrypt, credentials, "
                + "client-certificate, cookies and tls-verify out of it")
    }
}

// Coders: pools of decoders by name.
extension Configuration {
    /// Those that a request or a profile may name: what every stack has, and the others.
    package var coderNames: Set<String> {
        let ofEveryStack = [WorkerKind.decode.name, PoolName.vector.text]
        return Set(ofEveryStack + pools.filter { $0.kind == .decode }.map(\.name.text))
    }

    /// The same names, where there are such. Throws for one that there is not, with those that
    /// there are.
    func coders(_ names: [String]) throws(ImageError) -> [String] {
        let known = names.isEmpty ? [] : coderNames
        guard names.allSatisfy(known.contains) else { throw Self.unknown("coder", known) }
        return names
    }
}
