import Admission
import Bootstrap
import EventLoop
import ImageModel
import Linux
import Messages

extension Coordinator {
    /// What is known of the stack at this moment.
    mutating func report(at now: Instant) -> StatusReport {
        // What has expired since the last event is not shown.
        handle(.tick, at: now)
        let brain = scheduler.report
        var report = StatusReport()
        report.uptimeMilliseconds = UInt64(now.milliseconds(since: began))
        report.processes = [ownStatus] + peers.all.compactMap { workerStatus($0, brain) }
        report.sockets = gatewayList.map { socketStatus($0.listener, $0.traffic) }
        report.counters = Self.counters(of: brain) + listenerCounters
        report.cancellations = brain.cancellations
        report.transfers = brain.transferTimes
        report.stages = brain.stages
        report.requests = brain.requests
        report.pools = brain.pools
        report.caches = peers.all.compactMap(\.cacheStatus)
        report.fronts = Array(peers.all.compactMap(Self.frontStatus).prefix(Self.frontsMax))
        report.unverifiedHosts = Array(
            configuration.unverifiedHosts.prefix(Self.unverifiedHostsMax))
        return report
    }

    private var ownStatus: StatusReport.ProcessStatus {
        StatusReport.ProcessStatus(
            kind: .coordinator, pid: UInt32(CurrentProcess.processID), state: "ready",
            restarts: bootstrap.restarts, jobs: 0)
    }

    private func workerStatus(
        _ peer: Peer, _ brain: SchedulerReport
    ) -> StatusReport.ProcessStatus? {
        guard case .worker(let pool, let hello) = peer.role else { return nil }
        let worker = brain.workers.first { $0.id.value == peer.id }
        let jobs = worker?.jobs ?? 0
        let state = peer.isLeaving ? "draining" : jobs > 0 ? "busy" : "ready"
        return StatusReport.ProcessStatus(
            kind: pools[pool].kind, pid: hello.pid, state: state, restarts: hello.restarts,
            jobs: UInt32(clamping: jobs), sandbox: hello.sandbox,
            credit: UInt32(clamping: worker?.window ?? 0), pool: pools[pool].name)
    }

    /// Fronts in a status.
    private static let frontsMax = 64
    /// Hosts in a status whose certificates are not verified.
    private static let unverifiedHostsMax = 64

    private static func frontStatus(_ peer: Peer) -> StatusReport.FrontStatus? {
        guard case .client(let hello) = peer.role, let front = hello.front, front.isPlain else {
            return nil
        }
        return StatusReport.FrontStatus(process: front, pid: hello.pid)
    }

    private func socketStatus(
        _ listener: Listener, _ traffic: Gateway.Traffic
    ) -> StatusReport.SocketStatus {
        StatusReport.SocketStatus(
            name: listener.name, messagesReceived: traffic.messagesReceived,
            messagesSent: traffic.messagesSent, bytesReceived: traffic.bytesReceived,
            bytesSent: traffic.bytesSent, largestMessage: traffic.largestMessage)
    }

    private static func counters(of brain: SchedulerReport) -> [StatusReport.Counter] {
        let counted = brain.counters
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
            ("retries", counted.retries), ("blacklistRefusals", counted.blacklistRefusals),
            ("fallbacks", counted.fallbacks),
            ("blacklisted", UInt64(brain.blacklisted)), ("prefetched", counted.prefetched),
            ("prefetches", UInt64(brain.prefetches)),
            ("waitingPrefetches", UInt64(brain.waitingPrefetches)),
            ("downloadsSuspended", brain.hasSuspendedDownloads ? 1 : 0),
            ("crashes", counted.crashes), ("quarantined", UInt64(brain.quarantined)),
            ("liveRequests", UInt64(brain.liveRequests)), ("liveJobs", UInt64(brain.liveJobs)),
            ("liveBlocks", UInt64(brain.liveBlocks)), ("indexedHits", UInt64(brain.hits)),
        ]
        let queues = JobStage.allCases.map {
            ("queued.\($0.name)", UInt64(brain.queued[$0]?.jobs ?? 0))
        }
        let bytes = WorkerKind.workers.filter { $0 != .cache }.map {
            ("liveBytes.\($0.name)", brain.liveBytes[$0] ?? 0)
        }
        let coalesced = [
            ("coalesced.lookup", counted.coalesced.lookups),
            ("coalesced.result", counted.coalesced.results),
            ("coalesced.decode", counted.coalesced.decodes),
            ("coalesced.source", counted.coalesced.sources),
        ]
        let transfers = transferCounters(of: counted.transfers)
        let failures = counted.failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ("failed.\($0.key.rule.name)", $0.value)
        }
        return (rows + bytes + queues + coalesced + transfers + failures).map {
            StatusReport.Counter(name: $0.0, value: $0.1)
        } + brain.foreignCaches
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

    private var listenerCounters: [StatusReport.Counter] {
        let clients = peers.all.filter { $0.listener.isOfClients }
        return [
            StatusReport.Counter(name: "clients", value: UInt64(clients.count)),
            StatusReport.Counter(name: "malformedMessages", value: counters.malformedMessages),
            StatusReport.Counter(name: "expelledWorkers", value: counters.expelledWorkers),
            StatusReport.Counter(name: "stalledPeers", value: counters.stalledPeers),
            StatusReport.Counter(name: "strangers", value: counters.strangers),
            StatusReport.Counter(
                name: "refusedConnections",
                value: gatewayList.reduce(0) { $0 + $1.refusedConnections }),
            StatusReport.Counter(name: "lostClients", value: counters.lostClients),
            StatusReport.Counter(name: "lostWorkers", value: counters.lostWorkers),
            StatusReport.Counter(name: "pieceDeliveries", value: counters.pieceDeliveries),
            StatusReport.Counter(name: "uploads", value: counters.uploads),
        ]
    }
}
