import Admission
import Bootstrap
import Configuration
import ConfigurationFile
import EventLoop
import ImageModel
import Messages
import Observability

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

// What the operator's file says of requests (SEMANTICS §13), and its reload.
extension Coordinator {
    /// A load as the configuration makes it, on its terms.
    struct Resolved {
        var load: LoadRequest
        var terms: LoadTerms
        /// Whether the same load may become another one without a reload.
        var mayChange: Bool
    }

    /// Resolves a load. What the configuration refuses goes on to the scheduler, which knows
    /// whether the load is one that was made before.
    func resolve(_ load: LoadRequest, isUpload: Bool = false) -> Resolved {
        var resolved = Resolved(load: load, terms: LoadTerms(), mayChange: false)
        do throws(ImageError) {
            if isUpload { try Self.checkUpload(load.image) }
            let resolution = try configuration.resolve(load.image, isUpload: isUpload)
            resolved.load.image = resolution.request
            resolved.terms = resolution.terms
            resolved.terms.shortenDataKey(of: resolution.request.url)
            if !isUpload { resolved.terms.identity = identities.identity(of: resolution) }
            resolved.terms.identifyOverlays(by: identities.identify)
            resolved.mayChange = resolution.hasSecrets
        } catch {
            resolved.terms.refusal = error
        }
        return resolved
    }

    /// Has the scheduler resolve by what holds now what it begins by itself: URLs of prefetches,
    /// and fallbacks.
    mutating func renewLateResolution() {
        let (store, identify) = (configuration, identities.identify)
        scheduler.lateResolution = { image, kind in
            var resolution = store.resolve(late: image, kind)
            resolution.terms.shortenDataKey(of: resolution.request.url)
            resolution.terms.identity = identify(resolution)
            resolution.terms.identifyOverlays(by: identify)
            return resolution
        }
    }

    /// An operator's command about entries: the cache that it names becomes what stored texts call
    /// it.
    mutating func entry(_ command: CacheCommand, of client: ClientID, at now: Instant) {
        var command = command
        do throws(ImageError) {
            let text = try configuration.cacheText(of: command.cache)
            command.cache = text.isEmpty ? nil : text
            command.selection.furtherCaches = []
            if let named = command.selection.cache {
                command.selection.cache = try configuration.cacheText(of: named)
            }
            handle(.cache(client, command), at: now)
        } catch {
            refuse(command, error, of: client, at: now)
        }
    }

    /// A removal of a front end that speaks for strangers, where its operator permits it. The URL
    /// is that of its loads: under a key filter of their profile, what stands for it in keys.
    mutating func entry(restricted command: CacheCommand, of client: ClientID, at now: Instant) {
        var command = command
        do throws(ImageError) {
            try RestrictedFront.check(command, configuration.permissionForStrangers)
            command.selection.url = command.selection.url.map(configuration.keyOfStrangers)
            entry(command, of: client, at: now)
        } catch {
            refuse(command, error, of: client, at: now)
        }
    }

    private mutating func refuse(
        _ command: CacheCommand, _ error: ImageError, of client: ClientID, at now: Instant
    ) {
        let report = CacheReport(number: command.number, outcome: .failure(error))
        send(.toClient(.cache(report)), to: client.value, at: now)
    }

    private static func checkUpload(_ image: ImageRequest) throws(ImageError) {
        guard image.context.key == nil else {
            throw ImageError(
                .invalidRequest,
                "an image that comes along has no key of its own; operators put bytes under one")
        }
    }

    /// Reads secret files again where it is time to: at the head of every turn, since what begins
    /// in it may be late (`renewLateResolution`) with no load coming in.
    mutating func lookAtSecrets(at now: Instant) {
        if configuration.refreshSecrets(at: now) {
            bootstrap.log.info("a secret file has changed")
            forgetNames()
        }
        tellNotes()
    }

    /// Whether another coordinator could take the place of this one: it could not start with a file
    /// that has a fault, and would have no value of a secret that only this one still knows. An
    /// operator who wants that is told the reason, and this one stays.
    mutating func mayBeReplaced(at now: Instant, by operator: UInt64) -> Bool {
        guard let fault = configuration.fault else { return true }
        bootstrap.log.error(
            "this coordinator stays: the next one could not load all of the configuration",
            ["reason": .string(fault)])
        let error = ImageError(
            .invalidRequest, "the configuration has a fault: \(fault.prefix(Self.faultMax))")
        send(.toClient(.refused(error, nil)), to: `operator`, at: now)
        return false
    }

    /// Characters of a fault, so that the sentence stays within what a message carries.
    private static var faultMax: Int { 200 }

    /// SIGHUP: what is under way goes on as it was admitted. A file with a fault is refused again
    /// when the next coordinator starts, which then has none of before to keep: so no operator
    /// replaces this one meanwhile (`mayBeReplaced`).
    mutating func reload(at now: Instant) {
        guard let path = configuration.path else {
            return bootstrap.log.warning(
                "SIGHUP: there is no configuration to load anew: see --config")
        }
        do throws(ConfigurationFileError) {
            let (settings, downloads) = (configuration.cacheSettings, configuration.downloads)
            let changes = try configuration.reload(at: now)
            forgetNames()
            handle(.caches(configuration.cacheLayout), at: now)
            if configuration.cacheSettings != settings { tellCaches(at: now) }
            if configuration.downloads != downloads { tellDownloads(at: now) }
            bootstrap.log.info(
                "configuration loaded", ["file": .string(path), "changed": .string(changes)])
            tellNotes()
            warnOfUnverifiedHosts()
        } catch {
            bootstrap.log.error(
                "the configuration is not loaded, the one before it holds until this coordinator "
                    + "ends",
                ["reason": .string("\(error)")])
        }
    }

    /// The caches hold to what the configuration sets now.
    private mutating func tellCaches(at now: Instant) {
        for peer in peers.all {
            guard case .worker(PoolID(.cache), _) = peer.role else { continue }
            send(
                .toWorker(.cacheSettings(configuration.cacheSettings)), to: peer.id, at: now)
        }
    }

    /// Transfers that begin from now on are made as the configuration says now.
    private mutating func tellDownloads(at now: Instant) {
        for peer in peers.all {
            guard case .worker(let pool, _) = peer.role, pools[pool].kind == .download else {
                continue
            }
            send(.toWorker(.downloadSettings(configuration.downloads)), to: peer.id, at: now)
        }
        handle(.transfersMax(configuration.downloads.transfersMax), at: now)
    }

    /// What a reload may have changed is found out anew.
    private mutating func forgetNames() {
        // Its tickets have fallen; what it holds of requests is not kept longer than they are.
        hitMemos = HitMemos()
        scheduler.reconfigured()
        writeVouchers()
        renewLateResolution()
    }

    /// Names the hosts that rules leave unverified.
    func warnOfUnverifiedHosts() {
        let hosts = configuration.unverifiedHosts
        guard !hosts.isEmpty else { return }
        bootstrap.log.warning(
            "TLS certificates are not verified: anyone on the network path can replace the images",
            ["hosts": .string(hosts.joined(separator: " "))])
    }

    /// What an operator should know of the configuration that was loaded.
    mutating func tellNotes() {
        for note in configuration.takeNotes() {
            bootstrap.log.warning(
                "a secret file", ["file": .string(note.path), "reason": .string(note.reason)])
        }
    }
}
