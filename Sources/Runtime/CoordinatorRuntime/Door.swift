import Messages
import SharedArena

/// A directory in which the coordinator listens. Who may connect is decided by the file system, and
/// so a worker's kind is the door it came through (SEMANTICS §14.1).
enum Door: Hashable {
    case front
    case admin
    case back(WorkerKind)

    /// Operators are served first.
    static let all: [Door] = [.admin, .front] + WorkerKind.workers.map(Door.back)

    /// As status names it.
    var name: String {
        switch self {
        case .front: "front"
        case .admin: "admin"
        case .back(let kind): "back/\(kind.name)"
        }
    }

    func endpoint(in paths: RuntimePaths) -> String {
        switch self {
        case .front: paths.frontEndpoint
        case .admin: paths.adminEndpoint
        case .back(let kind): paths.backEndpoint(kind)
        }
    }

    func directory(in paths: RuntimePaths) -> String {
        switch self {
        case .front: paths.frontDirectory
        case .admin: paths.adminDirectory
        case .back(let kind): paths.backDirectory(kind)
        }
    }

    /// The socket's name in its directory.
    var socketName: String {
        switch self {
        case .front: "front.sock"
        case .admin: "admin.sock"
        case .back: "back.sock"
        }
    }

    /// Who may write to a socket may connect: the group of its directory, and at `admin/` nobody
    /// but the coordinator's user.
    var socketMode: UInt32 {
        switch self {
        case .front, .back: 0o660
        case .admin: 0o600
        }
    }

    var frameBytesMax: Int {
        switch self {
        case .front, .admin: MessageLimits.frontFrameBytesMax
        case .back: MessageLimits.backFrameBytesMax
        }
    }
}
