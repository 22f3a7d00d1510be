package import ImageModel
package import Messages

/// What became of a job, or of a worker.
package indirect enum Completion: Sendable {
    /// A worker has a transfer now; once for each attempt.
    case began(JobID, TransferSerial)
    /// How far a transfer is, and the block of what it hands out, if it does: that is the
    /// receiver's to drop.
    case progressed(JobProgress, BlockHandle?)
    /// A job is over, with a result that answers it. The blocks, in the order of its references,
    /// are the receiver's to drop; what the cache put into `results/` is none of them.
    case done(Ended, JobResult, ShortList<BlockHandle>)
    /// A job is over without a result.
    case failed(Ended, ImageError)
    /// A worker is gone, and with it all that it made. Jobs that it held are still held: whoever
    /// has taken apart what needs its blocks calls `redistribute(after:)`.
    case workerGone(Departure)
    /// The cache filled a block of `results/` for a job that nobody wants any more.
    case unclaimed(BlockReference, WorkerID)

    /// A job that is over.
    package struct Ended: Sendable {
        /// Which one.
        package let id: JobID
        /// Its stage.
        package let stage: JobStage
        /// Who did it last; `nil` where it ended while it waited.
        package let worker: WorkerID?
        /// Milliseconds for which it waited.
        package let waited: Double
        /// Milliseconds for which a worker says that it worked, in the last attempt.
        package let worked: Double

        /// Of work that was several jobs, under a number of its own.
        package init(
            _ id: JobID, _ stage: JobStage, worker: WorkerID?, waited: Double, worked: Double
        ) {
            (self.id, self.stage, self.worker) = (id, stage, worker)
            (self.waited, self.worked) = (waited, worked)
        }

        init(_ job: borrowing ActiveJob, worked: Double = 0) {
            (id, stage, worker) = (job.id, job.stage, job.worker)
            (waited, self.worked) = (job.waited, worked)
        }
    }
}
