import Messages

/// How many bytes jobs that are under way will have made, by what others of their pool made.
struct OutputForecast: Sendable {
    /// Bytes that a job makes, an exponential average by pool.
    private var typical: [Double]
    /// One output in so many decides what is typical.
    private static let memory = 16.0

    init(pools: Int) { typical = Array(repeating: 0, count: pools) }

    /// A job of the pool made so many bytes that are in use now.
    mutating func made(_ bytes: UInt64, in pool: PoolID) {
        let before = typical[pool.index]
        typical[pool.index] =
            before == 0 ? Double(bytes) : before + (Double(bytes) - before) / Self.memory
    }

    /// What so many jobs will have made.
    func bytes(ofJobs count: Int, in pool: PoolID) -> UInt64 {
        UInt64(typical[pool.index] * Double(count))
    }
}
