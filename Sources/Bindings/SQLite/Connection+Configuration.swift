extension Connection {
    /// What a connection is opened with.
    public struct Configuration: Sendable {
        /// How long a statement waits for another connection's lock, milliseconds.
        public var busyTimeout: Int32
        /// The limit of this connection's page cache, KiB.
        public var pageCacheKiB: Int32
        /// Whether a missing file is created.
        public var creates: Bool
        /// Whether the file is read as it stands, by whomever it was made: nobody changes it, and
        /// nothing is made beside it. What a statement may cost is bounded then.
        public var isImmutable: Bool

        /// The default page cache is 2 MiB: an index of 100,000 entries has its inner pages in
        /// it, and the cache process stays small.
        public init(
            busyTimeout: Int32 = 1_000, pageCacheKiB: Int32 = 2_048, creates: Bool = true,
            isImmutable: Bool = false
        ) {
            self.isImmutable = isImmutable
            self.busyTimeout = busyTimeout
            self.pageCacheKiB = pageCacheKiB
            self.creates = creates
        }
    }
}
