import Model

@testable import Coordinator

// Decoders that return several frames, in walks in which they are requested.
extension Walk {
    /// As many frames as the job requests, or fewer; `nil` if it requests at most one.
    mutating func frames(_ held: Stack.Held) -> JobResult? {
        guard let most = framesAskedFor(held) else { return nil }
        return .decoded(stack.decoded(by: held.worker, frames: draw(1...most)))
    }

    private func framesAskedFor(_ held: Stack.Held) -> Int? {
        guard case .decode(let work) = held.job.work, work.framesMax > 1, work.need != .header
        else { return nil }
        return work.framesMax
    }

    /// Occasionally, a decoder names a block twice, bytes that it doesn't have, or more frames than
    /// requested: its session ends.
    mutating func liesAboutFrames(_ held: Stack.Held) -> Bool {
        guard let most = framesAskedFor(held), random.oneIn(30) else { return false }
        var image = stack.decoded(by: held.worker, frames: most)
        let place = draw(1...(most - 1))
        switch draw(0...2) {
        case 0: image.frames[place].reference.block = image.frames[0].reference.block
        case 1: image.frames[place].reference.offset = 1 << 30
        default: image.frames += stack.decoded(by: held.worker).frames
        }
        stack.finish(held, .decoded(image))
        if stack.workers[held.worker] != nil { stack.fault("a lie about frames was believed") }
        return true
    }

    /// Sometimes an outcome of an ended attempt has frames of its own.
    mutating func handsOverLate(_ outcome: JobOutcome, _ worker: WorkerID) -> Bool {
        let most = stack.scheduler.limits.workGraph.framesMax
        guard stack.workers[worker]?.kind == .decode, most > 1 else { return false }
        let image = stack.decoded(by: worker, frames: draw(1...most))
        stack.send(
            .outcome(
                worker,
                JobOutcome(
                    id: outcome.id, attempt: outcome.attempt, result: .decoded(image),
                    workMicroseconds: 1)))
        return true
    }
}
