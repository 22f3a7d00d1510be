import Admission
import Bootstrap
import ConfigurationFile
import ImageModel
import Messages
import Observability

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
