package import ImageModel
package import Messages

// A load that would begin work in a stage that is over its bound is told so at once, and when to
// come again (SEMANTICS §9.3).
extension Dispatcher {
    /// Why no job of the stage can be begun, if it is over its bound.
    package mutating func refusal(in stage: JobStage) -> ImageError? {
        let isFirst = stage == .fetch || stage == .query
        let bound = limits.queuedCostMax[stage]
        let load = jobs.load(of: stage)
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
        jobs.load(of: stage).backlog >= limits.queuedCostMax[stage]
    }

    /// Whether one more query, fetch or original may wait for a worker of that kind; of the pool
    /// that every stack has, since a further one refuses by itself what it has no room for.
    package func hasRoom(_ kind: WorkerKind) -> Bool {
        jobs.queued(in: PoolID(kind)) < limits.queuedJobsMax
    }

    /// Of a stage that has finished nothing yet.
    private static let unknownSeconds = 1.0
}
