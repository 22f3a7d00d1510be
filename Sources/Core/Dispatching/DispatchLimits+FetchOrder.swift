extension DispatchLimits {
    /// Of transfers of one client and class, who is next.
    public enum FetchOrder: String, Hashable, Sendable {
        /// The one that waits longest.
        case fifo
        /// The one that came last (SEMANTICS §9.1).
        case lifo
    }
}
