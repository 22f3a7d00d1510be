import Dispatching
package import Messages

extension StageTimings {
    /// Stage by stage; the total is of the request alone.
    package static func += (left: inout StageTimings, right: StageTimings) {
        left.queue += right.queue
        left.query += right.query
        left.fetch += right.fetch
        left.decode += right.decode
        left.transform += right.transform
        left.store += right.store
    }

    /// A job ended.
    mutating func add(_ job: Completion.Ended) {
        queue += job.waited
        switch job.stage {
        case .query: query += job.worked
        case .fetch: fetch += job.worked
        case .decode: decode += job.worked
        case .transform: transform += job.worked
        case .store: store += job.worked
        }
    }
}
