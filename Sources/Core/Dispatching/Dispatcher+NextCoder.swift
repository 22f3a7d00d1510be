package import ImageModel
import Messages

// A decoder of somebody else says that it does not know the image (SEMANTICS §10.21).
extension Dispatcher {
    /// Whether there may be something to see of an image before all of its bytes have come. Of what
    /// others alone decode they know.
    package func mayShowPartially(_ format: ImageFormat?) -> Bool {
        format?.traits.input?.isShownPartially ?? limits.pools.isDecodedElsewhere(format)
    }

    /// Whether anybody decodes the format.
    package func isDecoded(_ format: ImageFormat) -> Bool {
        format.isDecodable || limits.pools.isDecodedElsewhere(format)
    }

    /// Gives the decode to the next pool that may do it; `false` where there is none, or where it
    /// was one of ours that said so.
    mutating func asksNextCoder(_ job: ActiveJob) -> Bool {
        guard job.kind == .decode, limits.pools.all[job.pool.index].trust == .foreign,
            let pool = limits.pools.coder(
                after: job.pool, among: job.submission.coders, for: needs(of: job.submission))
        else { return false }
        do throws(ImageError) {
            if pool != PoolID(.decode) {
                try checkRoom(in: pool, for: job.submission, claimed: job.inputBytes)
            }
            jobs.move(job.id, to: pool, at: now)
        } catch {
            ended(job, error)
        }
        return true
    }
}
