/// Which requests have a line in the log of the coordinator (`--log-requests`).
public enum RequestLogging: String, CaseIterable, Sendable {
    /// All, memory hits included: they take the long way then, and cost twice as much.
    case all
    /// All but those that memory answered.
    case misses
    /// Those that took a second, and those that failed.
    case slow
    /// No request, whatever its trace says.
    case none
}
