import Linux

/// What a test tells a program.
public enum StackSignal: Sendable {
    case terminate
    case interrupt
    case kill

    var signal: Signal {
        switch self {
        case .terminate: .terminate
        case .interrupt: .interrupt
        case .kill: .kill
        }
    }
}
