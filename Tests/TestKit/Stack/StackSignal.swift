import Linux

/// The signals that a test sends to a program.
public enum StackSignal: Sendable {
    case terminate
    case interrupt
    case kill
    case hangUp

    var signal: Signal {
        switch self {
        case .terminate: .terminate
        case .interrupt: .interrupt
        case .kill: .kill
        case .hangUp: .hangUp
        }
    }
}
