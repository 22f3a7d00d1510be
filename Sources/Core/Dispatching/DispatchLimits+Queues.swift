import Messages

extension DispatchLimits {
    /// Of transfers of one client and class, who is next.
    public enum FetchOrder: String, Hashable, Sendable {
        /// The one that waits longest.
        case fifo
        /// The one that came last (SEMANTICS §9.1).
        case lifo
    }

    /// Cost by stage, in the unit of each.
    public struct QueueBounds: Hashable, Sendable {
        /// Units of 4 KiB.
        public var store: UInt64 = (1 << 30) / 4_096
        /// Queries.
        public var query: UInt64 = 16_384
        /// Transfers.
        public var fetch: UInt64 = 16_384
        /// Bytes of encoded sources.
        public var decode: UInt64 = 1 << 30
        /// Pixels, those for slow encoders several times.
        public var transform: UInt64 = 4_000_000_000

        /// Minutes of work for a small machine: beyond it, waiting is of no use.
        public init() {}

        subscript(stage: JobStage) -> UInt64 {
            switch stage {
            case .store: store
            case .query: query
            case .fetch: fetch
            case .decode: decode
            case .transform: transform
            }
        }
    }
}
