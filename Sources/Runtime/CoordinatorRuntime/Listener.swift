import Messages
import SharedArena

/// A directory in which the coordinator listens. Who may connect is decided by the file system, and
/// so a worker's pool, and with it its kind, is the listener it came through (SEMANTICS §14.1).
enum Listener: Hashable {
    case front
    /// Of front ends that speak for strangers (SEMANTICS §14.11).
    case web
    case admin
    case back(PoolName)

    /// Those of a stack without further pools.
    static let all = all(WorkerPools())

    /// Those of a stack with these pools; operators are served first.
    static func all(_ pools: WorkerPools) -> [Listener] {
        [.admin, .front, .web] + pools.workers.map { .back(pools[$0].name) }
    }

    /// As status names it.
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

    /// The socket's name in its directory.
    var socketName: String {
        switch self {
        case .front: "front.sock"
        case .web: "web.sock"
        case .admin: "admin.sock"
        case .back: "back.sock"
        }
    }

    /// Who may write to a socket may connect: the group of its directory, and at `admin/` nobody
    /// but the coordinator's user.
    var socketMode: UInt32 {
        switch self {
        case .front, .web, .back: 0o660
        case .admin: 0o600
        }
    }

    var frameBytesMax: Int {
        switch self {
        case .front, .web, .admin: MessageLimits.frontFrameBytesMax
        case .back: MessageLimits.backFrameBytesMax
        }
    }

    /// Whether clients connect here, with whatever rights.
    var isOfClients: Bool { self == .front || self == .web }
}
