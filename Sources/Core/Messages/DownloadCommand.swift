/// What an operator wants of transfers that wait (SEMANTICS §10.17).
public enum DownloadCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// None of them begins; those that run go on.
    case suspend = 0
    /// They begin again.
    case resume = 1
}
