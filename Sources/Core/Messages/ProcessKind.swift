/// What a supervisor keeps alive: a process of the stack, or a front that is its client.
public enum ProcessKind: Hashable, Sendable {
    /// The coordinator, or a worker.
    case stack(WorkerKind)
    /// Images over HTTP.
    case gateway

    /// Decides; holds no pixels.
    public static let coordinator = ProcessKind.stack(.coordinator)
    /// Fetches.
    public static let download = ProcessKind.stack(.download)
    /// Memory tier and disk tier.
    public static let cache = ProcessKind.stack(.cache)
    /// Bytes to pixels.
    public static let decode = ProcessKind.stack(.decode)
    /// Pixels to bytes.
    public static let transform = ProcessKind.stack(.transform)

    /// All of them, the coordinator first.
    public static let all = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]

    /// The word on the command line and in JSON; its program is `imagebus-` and this.
    public var name: String {
        switch self {
        case .stack(let kind): kind.name
        case .gateway: "gateway"
        }
    }

    /// As a part of the stack; nil for what is none.
    public var stackKind: WorkerKind? {
        switch self {
        case .stack(let kind): kind
        case .gateway: nil
        }
    }

    /// Whether it is a client of the coordinator, which ends before it does.
    public var isFront: Bool { stackKind == nil }
}
