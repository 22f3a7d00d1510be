import Admission
import Configuration
import ConfigurationFile
import EventLoop
import ImageModel
import Messages

/// The configuration that holds, and the file that it comes from.
struct ConfigurationStore {
    /// `nil`: there is none, and nothing is resolved but what requests ask for by themselves.
    let path: String?
    private let vectorWorkers: Int
    /// What takes URLs besides the loaders of the file.
    private let loaders: [Loader]
    /// What the gateway needs that `serve` was told to run.
    private let grant: GatewayGrant
    private var configuration = Configuration()
    private var secrets = SecretFiles()
    private var secretsReadAt = Instant(nanoseconds: 0)

    private static let secretsMilliseconds = 1_000

    /// Reads the file, where there is one. Secrets that cannot be read are noted only, and looked
    /// for again: nothing of before could hold in their place.
    init(
        path: String?, vectorWorkers: Int = 0, loaders: [Loader] = [],
        grant: GatewayGrant = GatewayGrant()
    ) throws(ConfigurationFileError) {
        (self.path, self.vectorWorkers, self.loaders) = (path, vectorWorkers, loaders)
        self.grant = grant
        permissionForStrangers = FrontPermission().adding(grant)
        configuration.loaders = loaders
        if path != nil { _ = try load(at: .now(), isStart: true) }
    }

    /// Loads the file anew: whole, or not at all. Secrets that this one has no value of either
    /// refuse nothing, as a restart would do without them too; those that the file names newly do.
    ///
    /// - Returns: what has changed, in words.
    mutating func reload(at now: Instant) throws(ConfigurationFileError) -> String {
        try load(at: now, isStart: false)
    }

    private mutating func load(
        at now: Instant, isStart: Bool
    ) throws(ConfigurationFileError) -> String {
        guard let path else { return "nothing" }
        var new = try ConfigurationFile.read(path)
        new.loaders = loaders + new.loaders
        if !isStart, let fault = poolFault(in: new) {
            throw ConfigurationFileError(path: path, [.init(line: nil, fault)])
        }
        try secrets.fill(&new, path: path, after: isStart ? nil : configuration)
        secretsReadAt = now
        let changes = new.differences(from: configuration)
        configuration = new
        permissionForStrangers = permission(in: new)
        return changes
    }

    /// Gateways of the file whose operators have tokens need what those say.
    private func permission(in configuration: Configuration) -> FrontPermission {
        let named = configuration.profiles[RestrictedFront.profile]?.front ?? FrontPermission()
        return configuration.gateways.map { GatewayGrant(of: $0.values) }
            .reduce(named.adding(grant)) { $0.adding($1) }
    }

    /// Why another coordinator could not do with the files as they are now what this one does;
    /// `nil`: it could. What this one has no secret for either is no fault.
    var fault: String? {
        guard let path else { return nil }
        do throws(ConfigurationFileError) {
            let next = try ConfigurationFile.read(path)
            if let fault = poolFault(in: next) { return "\(path): \(fault)" }
            let loss = SecretFiles.loss(from: configuration, to: next)
            return loss.map { "\($0.path): \($0.reason)" }
        } catch {
            return error.lines.first
        }
    }

    /// Pools have listeners, directories and processes, which begin with the stack.
    private func poolFault(in new: Configuration) -> String? {
        guard new.pools != configuration.pools else { return nil }
        return "'pools' is not what the stack was started with: start it again, or leave it as it "
            + "was"
    }

    /// Who does the jobs.
    var pools: WorkerPools {
        WorkerPools(configuration.pools.drawing(workers: vectorWorkers))
    }

    /// What is set of the caches, the default one first.
    var cacheSettings: [NamedCacheSettings] {
        let (settings, readOnly) = (configuration.cacheSettings, configuration.readOnly)
        return Set(settings.keys).union(readOnly.keys).map { name in
            NamedCacheSettings(
                name: name == Configuration.defaultName ? "" : name,
                settings: settings[name] ?? CacheSettings(), readOnly: readOnly[name] ?? [])
        }.sorted { $0.name < $1.name }
    }

    /// Which names of caches stand for several.
    var cacheLayout: CacheLayout { configuration.cacheLayout }

    /// What is set of downloads.
    var downloads: DownloadSettings { configuration.downloads }

    /// What a request becomes. Without a configuration, one that asks for nothing of it stays as it
    /// is.
    func resolve(_ image: ImageRequest, isUpload: Bool) throws(ImageError) -> Resolution {
        guard concerns(image) else { return Resolution(image) }
        return try configuration.resolve(image, isUpload: isUpload)
    }

    /// The same of a request that is begun later than it came; what is wrong with it is the refusal
    /// of its terms. It has no fallback.
    func resolve(late image: ImageRequest, _ kind: LateRequest) -> Resolution {
        do throws(ImageError) {
            guard concerns(image) else { return Resolution(image) }
            switch kind {
            case .fallback: return try configuration.resolve(fallback: image)
            case .prefetched:
                var resolution = try configuration.resolve(image)
                resolution.terms.fallback = .none
                return resolution
            }
        } catch {
            var refused = Resolution(image)
            refused.terms.refusal = error
            return refused
        }
    }

    /// Whether a request like this one may become another one.
    func concerns(_ image: ImageRequest) -> Bool {
        path != nil || !loaders.isEmpty || !image.context.isEmpty || image.pixelRatio != 1
            || image.options.contains(.scaleDownLargeImages)
    }

    /// The profile of loads of strangers, if the file has one for them.
    var profileForStrangers: String? {
        configuration.profiles[RestrictedFront.profile] == nil ? nil : RestrictedFront.profile
    }

    /// What stands for a URL in the keys of loads of strangers.
    func keyOfStrangers(_ url: String) -> String {
        var image = ImageRequest(url: url)
        image.context.profile = profileForStrangers
        let base = try? resolve(image, isUpload: false).terms.base
        if case .filtered(let text) = base { return text }
        return (try? SourceURL(url))?.withoutUserInfo ?? url
    }

    /// Hosts whose certificates rules leave unverified.
    var unverifiedHosts: [String] { configuration.unverifiedHosts }

    /// What strangers may ask for.
    private(set) var permissionForStrangers: FrontPermission

    /// See `Configuration.cacheText`.
    func cacheText(of name: String?) throws(ImageError) -> String {
        try configuration.cacheText(of: name)
    }

    /// Throws what is wrong with a request whatever its URL is: names that are not there.
    func check(_ image: ImageRequest) throws(ImageError) {
        if concerns(image) { try configuration.check(image) }
    }

    /// Reads secret files again that were not looked at for a second; whether any has changed.
    mutating func refreshSecrets(at now: Instant) -> Bool {
        guard secrets.areUsed(by: configuration),
            now >= secretsReadAt.adding(milliseconds: Self.secretsMilliseconds)
        else { return false }
        secretsReadAt = now
        return secrets.refresh(&configuration)
    }

    mutating func takeNotes() -> [SecretFiles.Note] { secrets.takeNotes() }

    /// How many there are of each, for the log.
    var summary: String {
        var file = configuration
        file.loaders.removeFirst(loaders.count)
        return file.summary
    }
}
