/// Where sockets meet: a Unix socket, or a name within one context.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no endpoint.
    public enum Failure: Error, Hashable, Sendable {
        /// The path of a Unix socket may have 107 bytes (`sun_path` less its zero).
        case pathTooLong(bytes: Int)
        /// No path or name, or one with a zero byte; `*` and `@` would be wildcard and abstract.
        case badName
        /// Neither `ipc://` nor `inproc://`.
        case unknownTransport
    }

    /// How many bytes the path of a Unix socket may have.
    public static let pathBytesMax = 107

    /// As libzmq takes it, for example `ipc:///run/imagebus/front/front.sock`.
    public let description: String
    /// The path of the Unix socket; nil within a process.
    public let path: String?

    private init(description: String, path: String?) {
        self.description = description
        self.path = path
    }

    /// A Unix socket at this path; its directory must exist when it is bound.
    public static func ipc(path: String) throws(Failure) -> Endpoint {
        let count = path.utf8.count
        if count > pathBytesMax { throw .pathTooLong(bytes: count) }
        if path.utf8.contains(0) || path.isEmpty || path == "*" || path.hasPrefix("@") {
            throw .badName
        }
        return Endpoint(description: "ipc://" + path, path: path)
    }

    /// A name within one `Context`, at most 255 bytes; bind before connect.
    public static func inproc(name: String) throws(Failure) -> Endpoint {
        if name.isEmpty || name.utf8.count > 255 || name.utf8.contains(0) { throw .badName }
        return Endpoint(description: "inproc://" + name, path: nil)
    }

    /// Reads `ipc://PATH` or `inproc://NAME`.
    public init(parsing text: String) throws(Failure) {
        if text.hasPrefix("ipc://") {
            self = try .ipc(path: String(text.dropFirst(6)))
        } else if text.hasPrefix("inproc://") {
            self = try .inproc(name: String(text.dropFirst(9)))
        } else {
            throw .unknownTransport
        }
    }
}
