public import ImageModel

/// How URLs of a prefetch ended, besides those that were loaded.
public struct PrefetchEnds: Hashable, Sendable {
    /// URLs whose image a cache had.
    public var cached: UInt64
    /// URLs whose image no cache had, where nothing else was to be asked.
    public var missed: UInt64
    /// URLs that failed, by error, in the order in which the errors came first.
    public var errors: [ErrorCount]

    /// URLs that failed with one error.
    public struct ErrorCount: Hashable, Sendable {
        /// The error.
        public var code: ErrorCode
        /// How many.
        public var count: UInt64

        /// So many with that error.
        public init(_ code: ErrorCode, _ count: UInt64) { (self.code, self.count) = (code, count) }
    }

    /// Counts.
    public init(cached: UInt64 = 0, missed: UInt64 = 0, errors: [ErrorCount] = []) {
        (self.cached, self.missed, self.errors) = (cached, missed, errors)
    }

    /// So many more failed with that error.
    package mutating func failed(_ code: ErrorCode, _ count: UInt64 = 1) {
        guard let index = errors.firstIndex(where: { $0.code == code }) else {
            return errors.append(ErrorCount(code, count))
        }
        errors[index].count = min(errors[index].count, .max - count) + count
    }
}
