import Coordinator
import Model

// The end of a walk: all workers become honest, and everything must complete.
extension ForgingStack {
    mutating func comeToRest() throws(BrokenInvariant) {
        try becomeHonest()
        for _ in 0..<2_000 where !scheduler.isIdle {
            if let (worker, job) = held.first {
                let result = honest(job, by: worker, length: 900)
                try answer(
                    JobOutcome(
                        id: job.id, attempt: job.attempt, result: result, workMicroseconds: 1),
                    from: worker)
            } else {
                guard let moment = scheduler.nextDeadline else {
                    throw BrokenInvariant(what: "somebody would wake it")
                }
                now = max(now, moment)
                try send(.tick)
            }
        }
        try expect(scheduler.isIdle, "nothing is left of any request")
        try expect(waiting.isEmpty, "every request has a reply")
        for worker in workers.values {
            try expect(worker.handed.isEmpty, "every block that was handed over is released")
        }
    }

    /// Replaces workers that can't work with ones that can.
    private mutating func becomeHonest() throws(BrokenInvariant) {
        let draining = scheduler.drainingWorkers
        for worker in staff {
            guard let record = workers[worker] else { continue }
            guard !draining.contains(worker), record.segments.count + 2 <= Self.segmentsMax else {
                try kill(worker)
                continue
            }
            let mine = Self.whole(record.kind).map {
                SegmentAnnouncement(arena: $0.arena, number: 1_000, size: $0.size)
            }
            try open(mine, by: worker)
        }
        for kind in WorkerKind.workers where !workers.values.contains(where: { $0.kind == kind }) {
            try hire(kind, credit: 1)
            if let worker = staff.last { try open(Self.whole(kind), by: worker) }
        }
        for worker in staff where workers[worker]?.window == 0 {
            workers[worker]?.window += 1
            try send(.credit(worker, 1))
        }
    }
}
