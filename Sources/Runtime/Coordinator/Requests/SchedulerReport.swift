package import Model

extension Scheduler {
    /// What the scheduler knows of the status of the stack.
    package var report: StatusReport {
        var report = StatusReport()
        report.counters = statusCounters
        let cancellations = dispatcher.metrics.cancellations.stages
        report.cancellations = JobStage.allCases.compactMap { cancellations[$0] }
        report.transfers = TransferPhase.allCases.compactMap { phase in
            dispatcher.metrics.transferTimes[phase].map {
                StatusReport.TransferTimes(phase: phase.rawValue, durations: $0)
            }
        }
        let running = dispatcher.running
        report.stages = JobStage.allCases.map { stage in
            let waiting = dispatcher.waiting(in: stage)
            let times = dispatcher.metrics.times(stage)
            return StatusReport.StageStatus(
                stage: stage.name, queued: UInt64(waiting.jobs), queuedCost: waiting.cost,
                running: running[Int(stage.rawValue)], waits: times.waits, works: times.works)
        }
        report.requests = times
        report.pools = dispatcher.pools
        return report
    }

    private var statusCounters: [StatusReport.Counter] {
        let counted = shared.counters
        let rows: [(String, UInt64)] = [
            ("requests", counted.requests), ("memoryHits", counted.memoryHits),
            ("voucherHits", counted.voucherHits),
            ("diskHits", counted.diskHits), ("originalHits", counted.originalHits),
            ("partials", counted.partials),
            ("misses", counted.misses), ("fetches", counted.fetches),
            ("decodes", counted.decodes), ("transforms", counted.transforms),
            ("stores", counted.stores), ("cancelled", counted.cancelled),
            ("failed", counted.failed), ("coalesced", counted.coalesced.requests),
            ("originalUses", counted.originalUses),
            ("requeued", counted.requeued), ("refusedBusy", counted.refusedBusy),
            ("retries", counted.retries), ("blacklistRefusals", counted.failureCacheRefusals),
            ("fallbacks", counted.fallbacks),
            ("blacklisted", UInt64(hits.failureCache.live(at: now).count)),
            ("prefetched", counted.prefetched),
            ("prefetches", UInt64(prefetching.batches.count)),
            ("waitingPrefetches", UInt64(prefetching.waiting)),
            ("downloadsSuspended", dispatcher.transfers.isSuspended ? 1 : 0),
            ("crashes", counted.crashes), ("quarantined", UInt64(dispatcher.quarantined.count)),
            ("liveRequests", UInt64(requests.count)), ("liveJobs", UInt64(dispatcher.jobCount)),
            ("liveBlocks", UInt64(dispatcher.liveBlocks)), ("indexedHits", UInt64(hits.count)),
        ]
        let queues = JobStage.allCases.map {
            ("queued.\($0.name)", UInt64(dispatcher.waiting(in: $0).jobs))
        }
        let bytes = WorkerKind.workers.filter { $0 != .cache }.map {
            ("liveBytes.\($0.name)", dispatcher.liveBytes(of: $0))
        }
        let coalesced = [
            ("coalesced.lookup", counted.coalesced.lookups),
            ("coalesced.result", counted.coalesced.results),
            ("coalesced.decode", counted.coalesced.decodes),
            ("coalesced.source", counted.coalesced.sources),
        ]
        let transfers = Self.transferCounters(of: counted.transfers)
        let failures = counted.failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ("failed.\($0.key.rule.name)", $0.value)
        }
        return (rows + bytes + queues + coalesced + transfers + failures).map {
            StatusReport.Counter(name: $0.0, value: $0.1)
        } + workGraph.compositeJobs.counters
    }

    private static func transferCounters(
        of transfers: SchedulerCounters.Transfers
    ) -> [(String, UInt64)] {
        let versions = transfers.versions.sorted { $0.key < $1.key }.map {
            ("transfers.\($0.key)", $0.value)
        }
        return versions + [
            ("reusedConnections", transfers.reused), ("transferredBytes", transfers.bytes),
            ("redirects", transfers.redirects), ("continuations", transfers.continuations),
        ]
    }

    /// Whether nothing is left of any request: no nodes, jobs, blocks, or list entries.
    package var isIdle: Bool {
        requests.count == 0 && tokens.isEmpty && pendingTransitions.isEmpty && prefetching.isEmpty
            && workGraph.isIdle
    }

    /// The workers that accept no more jobs.
    package var drainingWorkers: Set<WorkerID> {
        Set(dispatcher.roster.workers.filter { $0.value.isDraining }.keys)
    }
}

/// How a request ended, for the log of the coordinator.
package struct RequestRecord: Hashable, Sendable {
    /// The URL as written by the client, including secrets; log only `SourceURL.forLogs`.
    let url: String
    /// The number of attempts; more than one if a product was lost.
    let attempts: Int
    /// Further context for the log.
    let logContext: LogContext
    /// The terminal reply.
    let reply: Reply
}

extension RequestRecord {
    /// Creates the record of a load that is answered with `reply`.
    init(_ load: LoadRequest, attempts: Int = 1, _ reply: Reply) {
        self.init(
            url: load.image.url, attempts: attempts, logContext: load.logContext, reply: reply)
    }
}
