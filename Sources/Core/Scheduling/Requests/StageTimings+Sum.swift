import Messages

extension StageTimings {
    /// Stage by stage; the total is of the request alone.
    static func += (left: inout StageTimings, right: StageTimings) {
        left.queue += right.queue
        left.query += right.query
        left.fetch += right.fetch
        left.decode += right.decode
        left.transform += right.transform
        left.store += right.store
    }

    /// A job of that stage ended.
    mutating func add(_ stage: JobStage, waited: Double, worked: Double) {
        queue += waited
        switch stage {
        case .query: query += worked
        case .fetch: fetch += worked
        case .decode: decode += worked
        case .transform: transform += worked
        case .store: store += worked
        }
    }
}
