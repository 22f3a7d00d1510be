import ImageModel
import Messages
import Tables

// An origin that failed in passing is asked again after a while.
extension Dispatcher {
    /// Puts a transfer that failed aside for another attempt; no worker holds it meanwhile. `false`
    /// where the failure is told at once: it is none of those, there were attempts enough, the
    /// origin asks for a long pause, or nobody waits as long as the next one would.
    mutating func delay(_ job: ActiveJob, after error: ImageError) -> Bool {
        guard job.stage == .fetch, job.retries < limits.fetchRetriesMax, Self.isTransient(error)
        else { return false }
        let pause = millisecondsToRetry(job, error)
        guard error.details["retryAfter"] == nil || pause <= limits.fetchRetryAfterMilliseconds
        else { return false }
        let until = now.adding(milliseconds: pause)
        guard until < job.urgency.deadline else { return false }
        jobs.delay(job.id, RetryDelay(until: until, error: error), at: now)
        return true
    }

    /// The time of another attempt has come, or nobody waits for as long as that.
    mutating func endDelay(of job: ActiveJob, _ delay: RetryDelay) {
        guard delay.until <= now else {
            return ended(job, Self.counting(job.retries, in: delay.error))
        }
        jobs.endDelay(of: job, at: now)
        figures.retries += 1
        requeue(job.id, goesLast: true)
    }

    /// Whether the origin, or the way to it, may be better in a moment.
    static func isTransient(_ error: ImageError) -> Bool {
        switch error.code {
        case .connectionFailed, .nameNotResolved, .timedOut, .shortBody, .connectionBroken,
            .invalidDownloadStatusCode:
            error.retryable
        default: false
        }
    }

    /// The same error; its details say how often the origin was asked.
    static func counting(_ attempts: Int, in error: ImageError) -> ImageError {
        guard attempts > 1 else { return error }
        var error = error
        error.details["attempt"] = "\(attempts)"
        return error
    }

    /// As long as the origin said (RFC 9110 §10.2.3), else twice as long each time.
    private func millisecondsToRetry(_ job: ActiveJob, _ error: ImageError) -> Int {
        if let seconds = error.details["retryAfter"].flatMap({ UInt32($0) }) {
            return Int(seconds) * 1_000
        }
        return Jitter.spread(
            limits.fetchRetryMilliseconds << min(job.retries, Self.doublingsMax), part: 4,
            seed: job.id.value &+ UInt64(job.retries) << 32)
    }

    private static let doublingsMax = 10
}
