package import Dispatching
package import ImageModel
package import Messages

/// What became of those who wait, and what else others have to know. A waiter that is named waits
/// nowhere any more, unless it is told where.
package enum DerivationEvent: Sendable {
    // Those who wait.

    /// The cache has their result, in that block.
    case found(CacheHit, BlockHandle, StageTimings, [Waiter.ID])
    /// It does not have it under that text, in those tiers.
    case missed(String, CacheTypes, StageTimings, [Waiter.ID])
    /// What is laid over their images is there.
    case gathered([Waiter.ID])
    /// It cannot be had; `nil`: nobody has it.
    case ungathered(Waiter.ID, ImageError?)
    /// Their image is there; facts have no block.
    case made(Made, BlockHandle?, [Waiter.ID])
    /// The same of one that waits for a store before it is answered, if there is still one.
    case kept(Made, BlockHandle?, Waiter.ID, Place?)
    /// It waits for another store now.
    case moved(Waiter.ID, Place)
    /// Nothing is left to wait for, and their images are in those tiers.
    case stored([Stored])
    /// Their images were lost with the cache.
    case lost([Waiter.ID])
    /// It waits on, after work that took so long and was in vain.
    case tried(StageTimings, Waiter.ID)
    /// The cache does not have their original, after so long: they wait on, and it is fetched.
    case fetching(StageTimings, [Waiter.ID])
    /// What they waited for was torn down.
    case disposed(Disposition, [Waiter.ID])
    /// How far the transfer is that they wait for.
    case progressed(Transfer, JobProgress, [Waiter.ID])

    // Sources.

    /// It failed, or is no image, for those orders.
    case failedSource(SourceKey, ImageError, [Order])
    /// It is an image after all, for those orders.
    case provenSource(SourceKey, [Order])
    /// On which header fields the original depends that is kept under that plain text.
    case varies(String, [String]?)

    // The cache.

    /// Something was stored under that text.
    case overtaken(String)
    /// The cache named a block of `results/`.
    case noticed(BlockReference, WorkerID)
    /// The cache is gone, and all that it had in memory.
    case cacheGone(WorkerID)
    /// What the cache says to an inquiry.
    case answered(JobID, CacheReport.Outcome)
}
