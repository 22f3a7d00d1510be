import Model
import ProcessRuntime
import Sodium
import Wire

/// A directory in which the coordinator listens. The file system controls who may connect, so the
/// listener determines a worker's pool and thereby its kind (SEMANTICS §14.1).
enum Listener: Hashable {
    case front
    /// The listener of front ends that serve untrusted clients (SEMANTICS §14.11).
    case web
    case admin
    case back(PoolName)

    /// The listeners of a stack with only the default pools.
    static let all = all(WorkerPools())

    /// Returns the listeners of a stack with these pools; operators are served first.
    static func all(_ pools: WorkerPools) -> [Listener] {
        [.admin, .front, .web] + pools.workers.map { .back(pools[$0].name) }
    }

    /// The name in status reports.
    var name: String {
        switch self {
        case .front: "front"
        case .web: "web"
        case .admin: "admin"
        case .back(let pool): "back/\(pool)"
        }
    }

    func endpoint(in paths: RuntimePaths) -> String {
        switch self {
        case .front: paths.frontEndpoint
        case .web: paths.webEndpoint
        case .admin: paths.adminEndpoint
        case .back(let pool): paths.backEndpoint(pool)
        }
    }

    func directory(in paths: RuntimePaths) -> String {
        switch self {
        case .front: paths.frontDirectory
        case .web: paths.webDirectory
        case .admin: paths.adminDirectory
        case .back(let pool): paths.backDirectory(pool)
        }
    }

    var socketName: String { String(name.prefix { $0 != "/" }) + ".sock" }

    /// The mode of the socket. Write permission allows connecting: for the group of its directory,
    /// and at `admin/` only for the coordinator's user.
    var socketMode: UInt32 { self == .admin ? 0o600 : 0o660 }

    var frameBytesMax: Int {
        if case .back = self { return MessageLimits.backFrameBytesMax }
        return MessageLimits.frontFrameBytesMax
    }

    /// The message that refuses something to a peer of this listener.
    func refusal(_ error: ImageError, _ token: Token? = nil) -> Outbox.Message {
        if case .back = self { return .toWorker(.refused(error)) }
        return .toClient(.refused(error, token))
    }

    /// Whether clients connect here, with any permissions. They may repeat answers; operators may
    /// not, because their commands must take effect.
    var isOfClients: Bool { self == .front || self == .web }
}

/// Checks the secret in a hello. If each kind runs as its own user, listeners require no secret,
/// because file modes restrict access. Under a `serve` that runs all kinds as one user they don't.
struct Authenticator {
    private let secrets: ListenerSecrets?
    private let pools: WorkerPools

    /// Parses the secrets from the supervisor; nil if no listener requires one. Throws unless there
    /// is a secret for every listener, since a listener without its secret would be open.
    init(
        inherited bytes: [UInt8]?, pools: WorkerPools = WorkerPools()
    ) throws(ConfigurationError) {
        secrets = bytes.flatMap { ListenerSecrets($0) }
        self.pools = pools
        // The supervisor that created the secrets must have known the same pools.
        if let secrets, Set(pools.workers.map { pools[$0].name }) != Set(secrets.workers.keys) {
            throw ConfigurationError(
                "the pools in the configuration differ from those with which serve was started: "
                    + "restart serve")
        }
        guard let bytes, secrets == nil else { return }
        throw ConfigurationError(
            "the listener secrets have \(bytes.count) bytes instead of "
                + "\(ListenerSecrets.byteCount): use serve and coordinator of the same release")
    }

    /// Returns nil if the peer may connect.
    func refusal(of shown: ListenerSecret?, at listener: Listener) -> ImageError? {
        let wanted: ListenerSecret? =
            switch listener {
            case .front, .web: nil
            case .admin: secrets?.admin
            case .back(let pool): secrets?.workers[pool]
            }
        guard let wanted else { return nil }
        if let shown, ConstantTime.areEqual(shown.bytes, wanted.bytes) { return nil }
        return ImageError(.addressForbidden, advice(listener))
    }

    private func isExternal(_ pool: PoolName) -> Bool {
        pools.id(of: pool).map { pools[$0].trust == .external } ?? false
    }

    private func advice(_ listener: Listener) -> String {
        switch listener {
        case .front, .web, .admin:
            "a hello at admin/ requires the secret in admin/secret: connect as the user of the "
                + "stack"
        case .back(let pool) where isExternal(pool):
            "a hello at back/\(pool)/ requires the secret in back/\(pool)/secret: run the "
                + "worker as the user of the stack"
        case .back(let pool):
            "this stack starts its own \(pool) workers: to add workers, start the coordinator "
                + "with 'serve --only coordinator'"
        }
    }
}

/// Restricts what front ends that serve untrusted clients may request (SEMANTICS §14.11): they
/// parse untrusted input and may be compromised.
enum RestrictedFront {
    /// The profile of their loads, if the configuration defines it.
    static let profile = "web"

    /// Throws for a message kind that they may not send.
    static func check(_ message: ClientMessage) throws(WireError) {
        switch message {
        case .prefetch: throw .unexpectedKind(.prefetch)
        case .cache(let command) where command.action != .removeSelected:
            throw .unexpectedKind(.cacheCommand)
        // Operators' other commands are rejected later.
        default: break
        }
    }

    /// Throws for a removal that the operator does not permit, and for one of more than the entries
    /// of one URL, one key prefix or one tag, in all caches and tiers.
    static func check(_ command: CacheCommand, _ permitted: FrontPermission) throws(ImageError) {
        try ImageError.require(
            permitted.removes,
            "clients of web/ may not remove cache entries: set profiles.web.front.removals in "
                + "the configuration, or operator-tokens and operator-listen of a gateway")
        let selection = command.selection
        let isNamed = [selection.url, selection.prefix, selection.tag].count { $0 != nil } == 1
        let hasMore =
            selection.cache != nil || selection.olderThanSeconds != nil || command.tiers != .all
        guard isNamed, !hasMore else {
            throw ImageError(
                .invalidRequest,
                "clients of web/ may only remove the entries of one URL, prefix or tag, in all "
                    + "caches and tiers: connect at admin/ for other removals")
        }
    }

    /// Throws for a load that sets options reserved to trusted clients, or exceeds what the
    /// operator permits.
    static func check(_ load: LoadRequest, _ permitted: FrontPermission) throws(ImageError) {
        let context = load.image.context
        let isNamed = [context.profile, context.cache, context.originalCache, context.loader]
            .contains { $0 != nil }
        try refuse(
            load.uploadBytes > UInt64(clamping: permitted.uploadBytesMax),
            "upload more than \(permitted.uploadBytesMax) bytes", unless: "upload-bytes")
        // Probes upload a small image.
        try refuse(
            load.logContext.isProbe && !(1...probeBytesMax).contains(load.uploadBytes),
            "mark a load as a probe without uploading 1 to \(probeBytesMax) bytes")
        try refuse(load.detach, "continue a load after they disconnect")
        let headers = load.image.headers.filter {
            !permitted.headers.contains($0.name.lowercased())
        }
        try refuse(!headers.isEmpty, "send these headers to the origin", unless: "headers")
        let asking: RequestOptions = [.refreshCached, .fromLoaderOnly, .retryFailed]
        try refuse(
            !permitted.refreshes && load.uploadBytes == 0
                && !load.image.options.isDisjoint(with: asking),
            "revalidate fresh URLs or retry failed ones", unless: "refresh")
        let tags = context.tags.filter { tag in
            !(permitted.tagPrefix.map { tag.hasPrefix($0) } ?? false)
        }
        try refuse(!tags.isEmpty, "set these tags", unless: "tag-prefix")
        try refuse(isNamed, "select a profile, cache or loader")
        try refuse(context.key != nil, "set a cache key")
        try refuse(context.serializer != nil, "select a serializer")
        try refuse(context.fallback != nil, "set a fallback")
    }

    /// The maximum size of a probe's image, in bytes.
    private static let probeBytesMax: UInt64 = 1_024

    /// Throws if a load asks for what front ends may not do; `key` is the key of the configuration
    /// that permits it, if there is one.
    private static func refuse(
        _ isAsked: Bool, _ what: String, unless key: String? = nil
    ) throws(ImageError) {
        guard isAsked else { return }
        let remedy = key.map { "set profiles.web.front.\($0) in the configuration, or " } ?? ""
        throw ImageError(
            .invalidRequest, "clients of web/ may not \(what): \(remedy)connect at front/")
    }
}
