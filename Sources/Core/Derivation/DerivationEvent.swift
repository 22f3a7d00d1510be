package import Dispatching
package import ImageModel
package import Messages

/// What became of waiters, and what else other rooms have to know. A waiter that an event names
/// waits nowhere any more, unless the event says where.
package indirect enum DerivationEvent: Sendable {
    // Waiters.

    /// The cache has the waiters' result, in that block.
    case found(CacheHit, BlockHandle, StageTimings, [Waiter.ID])
    /// The cache does not have the result under that text, in those tiers.
    case missed(String, CacheTypes, StageTimings, [Waiter.ID])
    /// What external caches know of the freshness of the waiters' images, after questions that took
    /// so long; `nil`: nothing new.
    case validity(Validity?, StageTimings, [Waiter.ID])
    /// What is laid over their images is there.
    case gathered([Waiter.ID])
    /// An overlay cannot be had; `nil`: no way to it is left.
    case ungathered(Waiter.ID, ImageError?)
    /// Their image is there; facts have no block.
    case made(Made, BlockHandle?, [Waiter.ID])
    /// The same for a waiter that is answered after a store, and where it waits for that, if it
    /// still has to.
    case kept(Made, BlockHandle?, Waiter.ID, Place?)
    /// A waiter waits for another store now.
    case moved(Waiter.ID, Place)
    /// The waiters' stores have ended, and their images are in those tiers.
    case stored([Stored])
    /// The waiters' images were lost with the cache.
    case lost([Waiter.ID])
    /// A waiter waits on, after work that took so long and was in vain.
    case tried(StageTimings, Waiter.ID)
    /// The cache does not have the waiters' original, as it said after so long. They wait on while
    /// it is fetched.
    case fetching(StageTimings, [Waiter.ID])
    /// What they waited for was torn down.
    case disposed(Disposition, [Waiter.ID])
    /// How far the waiters' transfer is, and what its header says, if that is known. They wait on.
    case progressed(Transfer, JobProgress, ImageInfo?, [Waiter.ID])
    /// A partial image of so many bytes, in that block. The waiters wait on.
    case partial(Transfer, DeliveredImage, BlockHandle, UInt64, [Waiter.ID])

    // Sources.

    /// What those orders do with a source failed.
    case failedSource(SourceKey, SourceOperation, ImageError, [Order])
    /// The source is an image after all, with which that can be done for those orders.
    case provenSource(SourceKey, SourceOperation, [Order])
    /// The header fields on which the original under that plain text depends.
    case varies(String, [String]?)
    /// The origin has confirmed what is kept with that mark under that plain text.
    case confirmed(String, BodyMark, Confirmation)

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
