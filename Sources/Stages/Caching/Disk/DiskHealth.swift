/// Whether the disk tier works.
public enum DiskHealth: Sendable, Hashable {
    /// It reads and writes.
    case healthy
    /// It writes nothing, and reads what it can; tried again at `retryAt`.
    case degraded(DiskError, retryAt: UnixTime)

    /// How long the disk is left alone after a failure, milliseconds.
    static let pause: Int64 = 5_000

    /// Why it is degraded.
    public var reason: DiskError? {
        switch self {
        case .healthy: nil
        case .degraded(let error, _): error
        }
    }
}
