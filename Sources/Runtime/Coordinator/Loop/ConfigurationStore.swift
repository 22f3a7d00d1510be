import ConfigurationFile
import Model
import ProcessRuntime

/// The active configuration and the file that it comes from.
struct ConfigurationStore {
    /// `nil` if there is no file; requests are then resolved by their own contents alone.
    let path: String?
    private let vectorWorkers: Int
    /// Loaders besides those of the file.
    private let loaders: [NamedLoader]
    /// The permissions for the gateway that `serve` was told to run.
    private let grant: GatewayGrant
    private var configuration = Configuration()
    private var secrets = SecretFiles()
    private var secretsReadAt = Instant(nanoseconds: 0)

    private static let secretsMilliseconds = 1_000

    /// Reads the file, if there is one. Secrets that can't be read are only noted and tried again
    /// later, because there is no previous configuration to keep.
    init(
        path: String?, vectorWorkers: Int = 0, loaders: [NamedLoader] = [],
        grant: GatewayGrant = GatewayGrant()
    ) throws(ConfigurationFileError) {
        (self.path, self.vectorWorkers, self.loaders) = (path, vectorWorkers, loaders)
        self.grant = grant
        untrustedPermission = FrontPermission().adding(grant)
        configuration.loaders = loaders
        if path != nil { _ = try load(at: .now(), isStart: true) }
    }

    /// Reloads the file; it is applied as a whole or not at all. A secret without a value in the
    /// current configuration does not cause a failure, since a restart would continue without it
    /// too; a newly named one does.
    ///
    /// - Returns: A description of the changes.
    mutating func reload(at now: Instant) throws(ConfigurationFileError) -> String {
        try load(at: now, isStart: false)
    }

    private mutating func load(
        at now: Instant, isStart: Bool
    ) throws(ConfigurationFileError) -> String {
        guard let path else { return "nothing" }
        var new = try ConfigurationFile.read(path)
        new.loaders = loaders + new.loaders
        if !isStart, let fault = poolError(in: new) {
            throw ConfigurationFileError(path: path, [.init(line: nil, fault)])
        }
        try secrets.fill(&new, path: path, after: isStart ? nil : configuration)
        secretsReadAt = now
        let changes = new.differences(from: configuration)
        configuration = new
        untrustedPermission = permission(in: new)
        return changes
    }

    /// Returns the permissions of front ends, including what the file's gateways with operator
    /// tokens require.
    private func permission(in configuration: Configuration) -> FrontPermission {
        let named = configuration.profiles[RestrictedFront.profile]?.front ?? FrontPermission()
        return configuration.gateways.map { GatewayGrant(of: $0.values) }
            .reduce(named.adding(grant)) { $0.adding($1) }
    }

    /// The reason why a new coordinator could not take over with the files as they are now; `nil`
    /// if it could. A secret that this coordinator doesn't have either is not a reason.
    var fault: String? {
        guard let path else { return nil }
        do throws(ConfigurationFileError) {
            let next = try ConfigurationFile.read(path)
            if let fault = poolError(in: next) { return "\(path): \(fault)" }
            let loss = SecretFiles.loss(from: configuration, to: next)
            return loss.map { "\($0.path): \($0.reason)" }
        } catch {
            return error.lines.first
        }
    }

    /// Returns an error if the pools have changed: their listeners, directories and processes are
    /// only created when the stack starts.
    private func poolError(in new: Configuration) -> String? {
        guard new.pools != configuration.pools else { return nil }
        return "'pools' differs from what the stack was started with: restart the stack, or revert "
            + "the change"
    }

    var pools: WorkerPools {
        WorkerPools(configuration.pools.drawing(workers: vectorWorkers))
    }

    /// The settings of the caches, the default one first.
    var cacheSettings: [NamedCacheSettings] {
        let (settings, readOnly) = (configuration.cacheSettings, configuration.readOnly)
        return Set(settings.keys).union(readOnly.keys).map { name in
            NamedCacheSettings(
                name: name == Configuration.defaultName ? "" : name,
                settings: settings[name] ?? CacheSettings(), readOnly: readOnly[name] ?? [])
        }.sorted { $0.name < $1.name }
    }

    /// Which cache names are composite caches.
    var cacheLayout: CacheLayout { configuration.cacheLayout }

    var downloads: DownloadSettings { configuration.downloads }

    /// Resolves a request. Without a configuration, a request that refers to nothing in it stays
    /// unchanged.
    func resolve(_ image: ImageRequest, isUpload: Bool) throws(ImageError) -> Resolution {
        guard concerns(image) else { return Resolution(image) }
        return try configuration.resolve(image, isUpload: isUpload)
    }

    /// Resolves a request that starts later than it arrived; errors become a rejection in its
    /// terms. It has no fallback.
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

    /// Returns whether the configuration may change a request like this one.
    func concerns(_ image: ImageRequest) -> Bool {
        path != nil || !loaders.isEmpty || !image.context.isEmpty || image.pixelRatio != 1
            || image.options.contains(.scaleDownLargeImages)
    }

    /// The profile for loads of untrusted clients, if the file defines one.
    var untrustedProfile: String? {
        configuration.profiles[RestrictedFront.profile] == nil ? nil : RestrictedFront.profile
    }

    /// Returns the representation of a URL in the keys of loads of untrusted clients.
    func untrustedKey(_ url: String) -> String {
        var image = ImageRequest(url: url)
        image.context.profile = untrustedProfile
        let base = try? resolve(image, isUpload: false).terms.base
        if case .filtered(let text) = base { return text }
        return (try? SourceURL(url))?.withoutUserInfo ?? url
    }

    /// Hosts for which rules disable certificate verification.
    var unverifiedHosts: [String] { configuration.unverifiedHosts }

    /// What untrusted clients may request.
    private(set) var untrustedPermission: FrontPermission

    /// See `Configuration.cacheText`.
    func cacheText(of name: String?) throws(ImageError) -> String {
        try configuration.cacheText(of: name)
    }

    /// Throws if a request has an error that doesn't depend on its URL, such as an undefined name.
    func check(_ image: ImageRequest) throws(ImageError) {
        if concerns(image) { try configuration.check(image) }
    }

    /// Reads secret files again if a second has passed since the last time; returns whether any
    /// value changed.
    mutating func refreshSecrets(at now: Instant) -> Bool {
        guard secrets.areUsed(by: configuration),
            now >= secretsReadAt.adding(milliseconds: Self.secretsMilliseconds)
        else { return false }
        secretsReadAt = now
        return secrets.refresh(&configuration)
    }

    mutating func drainNotes() -> [SecretFiles.Note] { secrets.drainNotes() }

    /// The number of entries of each kind, for the log.
    var summary: String {
        var file = configuration
        file.loaders.removeFirst(loaders.count)
        return file.summary
    }
}

// Resolving requests with the operator's file (SEMANTICS §13), and reloading it.
extension Coordinator {
    /// A load as resolved by the configuration, with its terms.
    struct Resolved {
        var load: LoadRequest
        var terms: LoadTerms
        /// Whether the same load may resolve differently later without a reload.
        var mayChange: Bool

        /// Resolves a load; an error becomes a rejection in its terms.
        init(
            _ load: LoadRequest, mayChange: Bool,
            _ resolve: (inout Resolved) throws(ImageError) -> Void
        ) {
            (self.load, terms, self.mayChange) = (load, LoadTerms(), mayChange)
            do throws(ImageError) {
                try resolve(&self)
            } catch {
                terms.refusal = error
            }
        }
    }

    /// Resolves a load. A rejected load is still passed to the scheduler, which knows whether it
    /// repeats an earlier load.
    func resolve(_ load: LoadRequest, isUpload: Bool = false) -> Resolved {
        Resolved(load, mayChange: false) { resolved throws(ImageError) in
            if isUpload { try Self.checkUpload(load.image) }
            let resolution = try configuration.resolve(load.image, isUpload: isUpload)
            resolved.load.image = resolution.request
            resolved.terms = resolution.terms
            resolved.terms.shortenDataKey(of: resolution.request.url)
            if !isUpload { resolved.terms.identity = identities.identify(resolution) }
            resolved.terms.identifyOverlays(by: identities.identify)
            resolved.mayChange = resolution.hasSecrets
        }
    }

    /// Makes the scheduler use the current configuration for loads that it starts itself: URLs of
    /// prefetches, and fallbacks.
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

    /// Executes an operator's command on entries, with the cache name converted to its stored form.
    mutating func entry(_ command: CacheCommand, of client: ClientID) {
        var command = command
        do throws(ImageError) {
            let text = try configuration.cacheText(of: command.cache)
            command.cache = text.isEmpty ? nil : text
            command.selection.furtherCaches = []
            if let named = command.selection.cache {
                command.selection.cache = try configuration.cacheText(of: named)
            }
            handle(.cache(client, command))
        } catch {
            refuse(command, error, of: client)
        }
    }

    /// Executes a removal requested by a front end that serves untrusted clients, if the operator
    /// permits it. The URL is converted as for its loads: if their profile has a key filter, to its
    /// representation in keys.
    mutating func entry(restricted command: CacheCommand, of client: ClientID) {
        var command = command
        do throws(ImageError) {
            try RestrictedFront.check(command, configuration.untrustedPermission)
            command.selection.url = command.selection.url.map(configuration.untrustedKey)
            entry(command, of: client)
        } catch {
            refuse(command, error, of: client)
        }
    }

    private mutating func refuse(
        _ command: CacheCommand, _ error: ImageError, of client: ClientID
    ) {
        let report = CacheReport(number: command.number, outcome: .failure(error))
        send(.cache(report), to: client)
    }

    private static func checkUpload(_ image: ImageRequest) throws(ImageError) {
        try ImageError.require(
            image.context.key == nil,
            "an uploaded image cannot have its own key; operators can store bytes under a key")
    }

    /// Reads secret files again if it is time to. Called at the start of every turn, since work
    /// that starts in it may be a late request (`renewLateResolution`) without any incoming load.
    mutating func lookAtSecrets() {
        if configuration.refreshSecrets(at: now) {
            bootstrap.log.info("secret file changed")
            forgetNames()
        }
        logNotes()
    }

    /// Returns whether another coordinator could replace this one. It could not start with an
    /// invalid file, and would lack a secret that only this one still has. The operator is then
    /// told the reason, and this coordinator continues.
    mutating func mayBeReplaced(by operator: UInt64) -> Bool {
        guard let fault = configuration.fault else { return true }
        bootstrap.log.error(
            "coordinator not replaced: its successor could not load the whole configuration",
            ["reason": .string(fault)])
        let error = ImageError(
            .invalidRequest, "the configuration has an error: \(fault.prefix(Self.faultMax))")
        send(.toClient(.refused(error, nil)), to: `operator`)
        return false
    }

    /// The maximum length of an error in characters, so that it fits into a message.
    private static var faultMax: Int { 200 }

    /// Handles SIGHUP. Loads in progress continue as they were admitted. An invalid file would also
    /// be rejected by the next coordinator, which has no previous configuration to keep; until it
    /// is fixed, operators can't replace this coordinator (`mayBeReplaced`).
    mutating func reload() {
        guard let path = configuration.path else {
            return bootstrap.log.warning(
                "SIGHUP: no configuration to reload (see --config)")
        }
        do throws(ConfigurationFileError) {
            let (settings, downloads) = (configuration.cacheSettings, configuration.downloads)
            let changes = try configuration.reload(at: now)
            forgetNames()
            handle(.caches(configuration.cacheLayout))
            let isCacheNew = configuration.cacheSettings != settings
            let isDownloadNew = configuration.downloads != downloads
            for peer in peers.all {
                guard case .worker(let pool, _) = peer.role else { continue }
                sendSettings(to: peer.id, of: pool, cache: isCacheNew, downloads: isDownloadNew)
            }
            if isDownloadNew { handle(.transfersMax(configuration.downloads.transfersMax)) }
            bootstrap.log.info(
                "configuration loaded", ["file": .string(path), "changed": .string(changes)])
            logNotes()
            warnOfUnverifiedHosts()
        } catch {
            bootstrap.log.error(
                "configuration not loaded; the previous one remains in use until this coordinator "
                    + "exits",
                ["reason": .string("\(error)")])
        }
    }

    /// Sends a worker the current settings of its kind; those for downloads apply to new transfers.
    mutating func sendSettings(
        to id: UInt64, of pool: PoolID, cache: Bool = true, downloads: Bool = true
    ) {
        if cache, pool == PoolID(.cache) {
            send(.toWorker(.cacheSettings(configuration.cacheSettings)), to: id)
        }
        if downloads, pools[pool].kind == .download {
            send(.toWorker(.downloadSettings(configuration.downloads)), to: id)
        }
    }

    /// Discards memoized results that a reload may have changed.
    private mutating func forgetNames() {
        // Its tickets are invalid now; the memos must not outlive them.
        hitMemos = HitMemos()
        scheduler.reconfigured()
        writeVouchers()
        renewLateResolution()
    }

    /// Logs a warning with the hosts for which rules disable certificate verification.
    func warnOfUnverifiedHosts() {
        let hosts = configuration.unverifiedHosts
        guard !hosts.isEmpty else { return }
        bootstrap.log.warning(
            "TLS certificates are not verified: anyone on the network path can replace the images",
            ["hosts": .string(hosts.joined(separator: " "))])
    }

    /// Logs notes about the loaded configuration.
    mutating func logNotes() {
        for note in configuration.drainNotes() {
            bootstrap.log.warning(
                "secret file problem", ["file": .string(note.path), "reason": .string(note.reason)])
        }
    }
}
