import ImageModel

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
