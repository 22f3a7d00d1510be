import CLinux

/// How a child ended.
public enum ChildStatus: Hashable, Sendable, CustomStringConvertible {
    /// By itself, with this code (0...255).
    case exited(Int32)
    /// By a signal.
    case signalled(Signal, dumpedCore: Bool)

    init(_ raw: clinux_exit) {
        self =
            raw.exited
            ? .exited(raw.value)
            : .signalled(Signal(rawValue: raw.value), dumpedCore: raw.dumped)
    }

    /// Whether it ended by itself with code 0.
    public var isSuccess: Bool {
        self == .exited(0)
    }

    /// For the log, for example `exit 3` or `SIGKILL`.
    public var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let signal, let dumped): "\(signal)" + (dumped ? " (core dumped)" : "")
        }
    }
}
