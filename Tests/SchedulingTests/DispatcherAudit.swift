import Model

@testable import Coordinator

// Invariants of jobs, queues and workers that hold after every event.
extension Dispatcher {
    /// All violated invariants; empty for a correct dispatcher. `isBehind`: whether more work is
    /// pending than one event processes.
    func audit(isBehind: Bool) -> [String] {
        var faults: [String] = []
        func check(_ isRight: Bool, _ what: String) { if !isRight { faults.append(what) } }
        auditJobs(isBehind: isBehind, check)
        auditDelays(isBehind: isBehind, check)
        for worker in roster.ids {
            guard let known = roster[worker] else { continue }
            check(
                known.window <= limits.jobs(ofOneIn: known.pool),
                "no worker takes more than its kind")
        }
        check(shared.actions.isEmpty && completions.count == 0, "everything was said")
        return faults
    }

    private func auditJobs(isBehind: Bool, _ check: (Bool, String) -> Void) {
        for pool in limits.pools.workers {
            let name = limits.pools[pool].name
            let waiting = jobs.values.filter { $0.pool == pool && $0.place == .queued }
            let queue = queues[pool.index]
            check(queue.count == waiting.count, "\(name) queue counts")
            let free = roster.members(of: pool).contains { $0.free > 0 }
            let withLow = hasLowShare(roster.credit(of: pool))
            let mayGo = waiting.contains {
                !queue.isHeldUp($0) && ($0.ticket.priority != .low || withLow)
            }
            check(
                !mayGo || !free || !hasBudget(pool) || isBehind,
                "nothing waits while a \(name) is free")
            for job in waiting {
                check(job.ticket.suits(job.urgency), "a job stands where it is wanted")
            }
        }
        auditQueues(check)
        for worker in roster.ids {
            let held = jobs.values.count { $0.worker == worker }
            check(roster[worker]?.jobs == held, "the jobs of a worker are counted")
            let ours = jobs.values.filter { $0.worker == worker }
            let low = ours.count { !$0.isExpendable && $0.sent.priority == .low }
            check(roster[worker]?.lowJobs == low, "jobs of class low are counted")
            let expendable = ours.count(where: \.isExpendable)
            check(roster[worker]?.expendableJobs == expendable, "expendable jobs are counted")
        }
        for job in jobs.values {
            if let worker = job.worker {
                check(roster.contains(worker), "a held job has a worker")
            } else {
                check(job.isWanted, "what nobody wants does not wait")
            }
            check(
                !job.isExpendable || !job.isWaiting || job.kind == .cache || isBehind,
                "what is expendable waits for nobody")
            if job.place == .parked {
                check(parked.ids.contains(job.id) && parked.since != nil, "a parked job is listed")
            }
        }
    }

    private func auditQueues(_ check: (Bool, String) -> Void) {
        for stage in JobStage.allCases {
            let waiting = jobs.values.filter {
                $0.load == Int(stage.rawValue) && $0.isWaiting
            }
            let load = loads[Int(stage.rawValue)]
            check(load.jobs == waiting.count, "\(stage.name) counts what waits")
            check(
                load.backlog == waiting.reduce(0) { $0 + $1.spec.cost },
                "\(stage.name) counts what waiting work costs")
        }
        auditShares(check)
        for pool in limits.pools.all.indices {
            let bytes = jobs.values.reduce(0) { $0 + ($1.pool.index == pool ? $1.inputBytes : 0) }
            check(claims[pool] == bytes, "what the jobs of a pool read is counted")
        }
        let gates = queues[PoolID(.download).index].gates
        guard gates.heldMax > 0 else { return check(gates.hosts.isEmpty, "no host is counted") }
        var hosts: [HostName: Int] = [:]
        for job in jobs.values where !job.isWaiting {
            if let host = job.spec.host { hosts[host, default: 0] += 1 }
        }
        check(Set(hosts.keys) == Set(gates.hosts), "each host with a transfer is counted")
        for (host, held) in hosts {
            check(gates.count(host) == held, "transfers of a host are counted")
            check(held <= gates.heldMax, "a host has no more transfers than it may")
        }
        for queue in queues {
            check(queue.size <= 16 * queue.count + 600, "a queue keeps nothing that is of no use")
        }
    }

    /// Shares are checked whenever a job is assigned (`Stack`).
    private func auditShares(_ check: (Bool, String) -> Void) {
        for pool in limits.pools.workers {
            let (kind, queue) = (limits.pools[pool].kind, queues[pool.index])
            check((queue.share != nil) == (kind == .download), "only transfers are shared out")
            guard let gate = queue.share else { continue }
            let held = jobs.values.filter { $0.pool == pool && $0.worker != nil }
            check(gate.share.count == held.count, "what a kind of worker holds is counted")
            for (holder, jobs) in Dictionary(grouping: held, by: \.holder) {
                check(gate.share.count(of: holder) == jobs.count, "and for each holder")
                check(!holder.isRequeued, "a holder is a client")
            }
            for (owner, jobs) in Dictionary(grouping: held, by: \.holder.owner) {
                check(gate.share.count(of: owner) == jobs.count, "and for each process")
            }
        }
    }

    private func auditDelays(isBehind: Bool, _ check: (Bool, String) -> Void) {
        for job in jobs.values {
            guard case .delayed(let delay) = job.place else { continue }
            check(job.stage == .fetch, "only transfers are tried again")
            check((1...limits.fetchRetriesMax).contains(job.retries), "retries are counted")
            check(job.ticket == .none && !job.isStopped, "a delayed job waits in no queue")
            if isBehind { continue }
            check(delay.until < job.urgency.deadline, "somebody waits for another attempt")
            check(job.alarm == delay.until && delay.until > now, "a delayed job will be woken")
        }
    }
}

// The records of jobs.
extension Dispatcher {
    private var queues: [StageQueue] { jobs.queues }
    private var loads: [StageLoad] { jobs.loads }
    private var claims: [UInt64] { jobs.claims }
    private var parked: ParkedJobs { jobs.parked }
}
