import Model

@testable import Coordinator

extension Walk {
    /// Without further requests and lies, everything must complete.
    mutating func comeToRest() {
        for kind in WorkerKind.workers {
            let draining = stack.scheduler.drainingWorkers.filter {
                stack.workers[$0]?.kind == kind
            }
            for worker in draining.sorted() { stack.kill(worker) }
        }
        completeBatches()
        for _ in 0..<5_000 {
            // A worker that earlier claimed missing bytes may still be found to have lied.
            let pools = stack.scheduler.limits.dispatch.pools
            for pool in pools.workers
            where !stack.workers.values.contains(where: { $0.pool == pool }) {
                stack.hire(pools.kind(of: pool), pool: pool)
            }
            if stack.scheduler.isIdle { break }
            if stack.allHeld.isEmpty {
                guard let moment = stack.scheduler.nextDeadline else {
                    return stack.fault("nobody would ever wake it")
                }
                stack.pass(milliseconds: moment.milliseconds(since: stack.now))
            }
            stack.finishAll()
        }
        if !stack.scheduler.isIdle { stack.fault("something is left in a table") }
        if !stack.prefetching.isEmpty { stack.fault("batches did not end") }
        if !stack.waiting.isEmpty { stack.fault("\(stack.waiting.count) requests got no reply") }
        for worker in stack.workers.values where !worker.live.isEmpty {
            stack.fault("\(worker.live.count) blocks of a \(worker.kind.name) were not released")
        }
        for client in stack.clients.sorted() { stack.disconnect(client) }
        let large = stack.workers.values.flatMap { $0.large.filter { !$0.value }.keys }
        for block in large.sorted(by: { $0.value < $1.value }) { stack.evict(block) }
        if stack.workers.values.contains(where: { !$0.large.isEmpty }) {
            stack.fault("large blocks were not released")
        }
        if stack.scheduler.hits.blocks.hasDeliveries { stack.fault("deliveries are left") }
    }
}
