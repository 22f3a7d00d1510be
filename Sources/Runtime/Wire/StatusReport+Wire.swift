import CMessages
import Messages

extension StatusReport {
    /// Processes, sockets or counters in one report.
    static let rowsMax = 512

    init(_ wire: Imagebus__V1__StatusReport, _ read: FieldReader) throws(WireError) {
        self.init()
        processes = try read.list(
            wire.n_processes, wire.processes, "StatusReport.processes", limit: Self.rowsMax
        ) { part throws(WireError) in try ProcessStatus(part, read) }
        sockets = try read.list(
            wire.n_sockets, wire.sockets, "StatusReport.sockets", limit: Self.rowsMax
        ) { part throws(WireError) in try SocketStatus(part, read) }
        counters = try read.list(
            wire.n_counters, wire.counters, "StatusReport.counters", limit: Self.rowsMax
        ) { part throws(WireError) in try Counter(part, read) }
        uptimeMilliseconds = wire.uptime_milliseconds
        cancellations = try read.list(
            wire.n_cancellations, wire.cancellations, "StatusReport.cancellations",
            limit: Self.rowsMax
        ) { part throws(WireError) in try Cancellations(part, read) }
        stages = try read.list(
            wire.n_stages, wire.stages, "StatusReport.stages", limit: Self.rowsMax
        ) { part throws(WireError) in try StageStatus(part, read) }
        requests = try LatencyHistogram(wire.requests, "StatusReport.requests")
        caches = try read.list(
            wire.n_caches, wire.caches, "StatusReport.caches", limit: Self.rowsMax
        ) { part throws(WireError) in try CacheStatus(part, read) }
        pools = try read.list(
            wire.n_pools, wire.pools, "StatusReport.pools", limit: Self.rowsMax
        ) { part throws(WireError) in try PoolStatus(part, read) }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport>
    {
        let wire = try write.make(imagebus__v1__status_report__init)
        wire.pointee.n_processes = processes.count
        wire.pointee.processes = try write.list(
            processes, "StatusReport.processes", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.n_sockets = sockets.count
        wire.pointee.sockets = try write.list(
            sockets, "StatusReport.sockets", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.n_counters = counters.count
        wire.pointee.counters = try write.list(
            counters, "StatusReport.counters", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.uptime_milliseconds = uptimeMilliseconds
        wire.pointee.n_cancellations = cancellations.count
        wire.pointee.cancellations = try write.list(
            cancellations, "StatusReport.cancellations", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.n_stages = stages.count
        wire.pointee.stages = try write.list(
            stages, "StatusReport.stages", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.requests = try requests.wire(write)
        wire.pointee.n_caches = caches.count
        wire.pointee.caches = try write.list(
            caches, "StatusReport.caches", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        wire.pointee.n_pools = pools.count
        wire.pointee.pools = try write.list(
            pools, "StatusReport.pools", limit: Self.rowsMax
        ) { row throws(WireError) in try row.wire(write) }
        return wire
    }
}
