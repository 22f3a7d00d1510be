extension WorkerKind {
    /// Jobs that a worker of the kind takes at a time. The coordinator gives it no more, whatever
    /// it claims: a compromised worker must not draw the jobs of all the others.
    public var creditMax: UInt32 {
        switch self {
        case .coordinator: 0
        case .download, .cache: 256
        case .decode, .transform: 1
        }
    }
}
