import ImageModel
import Messages

// Who would begin work that has to wait too long is told so at once, and when to come again
// (SEMANTICS §9.3). What is under way is never refused: others join it, and it goes on.
extension Scheduler {
    /// Why a result cannot be begun, if a stage is over its bound in which it would begin work.
    mutating func refusal(toMake name: ResultName, of order: Order) -> ImageError? {
        if order.plan.includes(.transform), let error = refusal(in: .transform) { return error }
        if order.plan.includes(.deliver), let error = refusal(in: .store) { return error }
        return order.canvas == nil ? refusal(toDecode: name.decode, of: order) : nil
    }

    /// The same of pixels.
    mutating func refusal(toDecode name: Sourced<DecodeKey>, of order: Order) -> ImageError? {
        guard decodeTable[name] == nil else { return nil }
        if let error = refusal(in: .decode) { return error }
        let bytes = Sourced(key: name.key.source, origin: name.origin)
        guard order.upload == nil, source(bytes) == nil else { return nil }
        return refusal(in: name.origin.isFetched ? .fetch : .query)
    }

    /// Why no job of the stage can be begun, if it is over its bound.
    mutating func refusal(in stage: JobStage) -> ImageError? {
        let isFirst = stage == .fetch || stage == .query
        let bound = limits.queuedCostMax[stage]
        let load = loads[Int(stage.rawValue)]
        guard load.backlog >= bound || (isFirst && !hasRoom(stage.kind)) else { return nil }
        counters.refused[stage, default: 0] += 1
        // A tenth less, so that not only the first one who comes again finds room.
        let goal = min(load.backlog, bound) / 10 * 9
        return .busy(
            "too much waits in the \(stage.name) stage",
            seconds: load.seconds(untilBelow: goal) ?? Self.unknownSeconds)
    }

    /// Of a stage that has finished nothing yet.
    private static let unknownSeconds = 1.0

    // MARK: - What waits

    /// A job that a worker had waits for something else than a worker.
    mutating func setAside(_ id: JobID, _ place: ActiveJob.Place) {
        guard var job = jobs[id] else { return }
        if !job.isWaiting { loads[Int(job.stage.rawValue)].enter(job) }
        job.place = place
        job.waitingSince = now
        job.alarm = nil
        jobs[id] = job
    }
}
