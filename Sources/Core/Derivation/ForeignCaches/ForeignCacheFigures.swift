/// What became of what a pool of caches of others was asked, since the start.
package struct ForeignCacheFigures: Hashable, Sendable {
    /// Queries that it answered with bytes.
    package var hits: UInt64 = 0
    /// Queries that it answered without any.
    package var misses: UInt64 = 0
    /// What it took, removed, or said of entries.
    package var writes: UInt64 = 0
    /// What failed, and what was lost with a worker.
    package var errors: UInt64 = 0
    /// What was not answered in time.
    package var slow: UInt64 = 0
    /// What it was not asked, since no worker is connected, too much waits, or it was slow or
    /// failed before: misses, and stores that were not made.
    package var skipped: UInt64 = 0
    /// Results among the hits that our own cache did not take for the images that they were said to
    /// be.
    package var refused: UInt64 = 0
    /// Hits that our own cache has kept.
    package var promoted: UInt64 = 0

    /// Nothing yet.
    package init() {}
}
