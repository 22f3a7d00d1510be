import Bootstrap
import ImageModel
import Messages
import Sodium

/// Whether a hello shows what its listener asks for. Where each kind is a user of its own no
/// listener asks: file modes keep the others out. Under a `serve` that runs all kinds as one user
/// they do not.
struct Authenticator {
    private let secrets: ListenerSecrets?
    private let pools: WorkerPools

    /// Takes what the supervisor gave; nil: no listener asks. Throws for anything else than the
    /// secrets of all listeners, since a listener that should ask and does not would be open.
    init(
        inherited bytes: [UInt8]?, pools: WorkerPools = WorkerPools()
    ) throws(ConfigurationError) {
        secrets = bytes.flatMap { ListenerSecrets($0) }
        self.pools = pools
        if let secrets { try Self.check(secrets, have: pools) }
        guard let bytes, secrets == nil else { return }
        throw ConfigurationError(
            "the secrets of the listeners have \(bytes.count) bytes, not "
                + "\(ListenerSecrets.byteCount): start serve and the coordinator of one release")
    }

    /// Who gave the secrets knew the same pools.
    private static func check(
        _ secrets: ListenerSecrets, have pools: WorkerPools
    ) throws(ConfigurationError) {
        let known = Set(pools.workers.map { pools[$0].name })
        guard known != Set(secrets.workers.keys) else { return }
        throw ConfigurationError(
            "the pools in the configuration are not those with which serve was started: start "
                + "serve again")
    }

    /// nil where it may come in.
    func refusal(of shown: ListenerSecret?, at listener: Listener) -> ImageError? {
        guard let wanted = wanted(at: listener) else { return nil }
        if let shown, ConstantTime.areEqual(shown.bytes, wanted.bytes) { return nil }
        return ImageError(.addressForbidden, advice(listener))
    }

    private func wanted(at listener: Listener) -> ListenerSecret? {
        switch listener {
        case .front, .web: nil
        case .admin: secrets?.admin
        case .back(let pool): secrets?.workers[pool]
        }
    }

    private func isForeign(_ pool: PoolName) -> Bool {
        pools.id(of: pool).map { pools[$0].trust == .foreign } ?? false
    }

    private func advice(_ listener: Listener) -> String {
        switch listener {
        case .front, .web, .admin:
            "a hello at admin/ needs the bytes of admin/secret: connect as the user of the stack"
        case .back(let pool) where isForeign(pool):
            "a hello at back/\(pool)/ needs the bytes of back/\(pool)/secret: run the worker as "
                + "the user of the stack"
        case .back(let pool):
            "this stack starts its \(pool) workers itself: start the coordinator with "
                + "'serve --only coordinator' to add workers of your own"
        }
    }
}
