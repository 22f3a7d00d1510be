/// What the cache has in memory, who reads it, and what was used of it.
struct Memory: Sendable {
    var hits: HitIndex
    var blocks: ResultBlocks
    var touches = TouchBatch()

    init(_ limits: SchedulerLimits) {
        hits = HitIndex(entriesMax: limits.hitsMax)
        blocks = ResultBlocks(
            unreleasedBytesMax: limits.unreleasedBytesMax,
            unreleasedBytesPerClientMax: limits.unreleasedBytesPerClientMax)
    }
}
