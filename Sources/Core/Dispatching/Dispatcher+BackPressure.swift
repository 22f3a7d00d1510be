package import ImageModel
package import Messages

// A load that would begin work in a stage that is over its bound is told so at once, and when to
// come again (SEMANTICS §9.3).
extension Dispatcher {
    /// Why no job of the stage can be begun, if it is over its bound.
    package mutating func refusal(in stage: JobStage) -> ImageError? {
        let isFirst = stage == .fetch || stage == .query
        let bound = limits.queuedCostMax[stage]
        let load = loads[Int(stage.rawValue)]
        guard load.backlog >= bound || (isFirst && !hasRoom(stage.kind)) else { return nil }
        figures.refused[stage, default: 0] += 1
        // A tenth less, so that not only the first one who comes again finds room.
        let goal = min(load.backlog, bound) / 10 * 9
        return .busy(
            "too much waits in the \(stage.name) stage",
            seconds: load.seconds(untilBelow: goal) ?? Self.unknownSeconds)
    }

    /// Whether so much waits in the stage that work which can wait is not begun.
    package func isFull(_ stage: JobStage) -> Bool {
        loads[Int(stage.rawValue)].backlog >= limits.queuedCostMax[stage]
    }

    /// Of a stage that has finished nothing yet.
    private static let unknownSeconds = 1.0

    // MARK: - What waits

    /// A job that a worker had waits for something else than a worker.
    mutating func setAside(_ id: JobID, _ place: ActiveJob.Place) {
        guard var job = jobs[id] else { return }
        if !job.isWaiting { loads[job.load].enter(job) }
        job.place = place
        job.waitingSince = now
        job.alarm = nil
        jobs[id] = job
    }
}
