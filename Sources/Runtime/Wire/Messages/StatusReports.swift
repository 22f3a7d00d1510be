import CMessages
import Model

extension StatusReport: WireMessage {
    typealias Form = Imagebus__V1__StatusReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__init }
    static var blank: Self { Self() }

    /// The maximum number of rows of one kind in a report.
    static let rowsMax = 512
    /// The maximum length of a host with its port, in bytes.
    private static let hostBytesMax = 1_024

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &processes, &wire.pointee.n_processes, &wire.pointee.processes,
            "StatusReport.processes", limit: Self.rowsMax)
        try map.list(
            &sockets, &wire.pointee.n_sockets, &wire.pointee.sockets, "StatusReport.sockets",
            limit: Self.rowsMax)
        try map.list(
            &counters, &wire.pointee.n_counters, &wire.pointee.counters, "StatusReport.counters",
            limit: Self.rowsMax)
        try map.number(
            &uptimeMilliseconds, &wire.pointee.uptime_milliseconds,
            "StatusReport.uptime_milliseconds")
        try map.list(
            &cancellations, &wire.pointee.n_cancellations, &wire.pointee.cancellations,
            "StatusReport.cancellations", limit: Self.rowsMax)
        try map.list(
            &stages, &wire.pointee.n_stages, &wire.pointee.stages, "StatusReport.stages",
            limit: Self.rowsMax)
        try map.part(&requests, unless: false, &wire.pointee.requests, "StatusReport.requests")
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "StatusReport.caches",
            limit: Self.rowsMax)
        try map.list(
            &pools, &wire.pointee.n_pools, &wire.pointee.pools, "StatusReport.pools",
            limit: Self.rowsMax)
        try map.list(
            &transfers, &wire.pointee.n_transfers, &wire.pointee.transfers,
            "StatusReport.transfers", limit: Self.rowsMax)
        try map.list(
            &fronts, &wire.pointee.n_fronts, &wire.pointee.fronts, "StatusReport.fronts",
            limit: Self.rowsMax)
        try map.texts(
            &unverifiedHosts, &wire.pointee.n_unverified_hosts, &wire.pointee.unverified_hosts,
            "StatusReport.unverified_hosts", countMax: Self.rowsMax, limit: Self.hostBytesMax)
    }
}

private let textMax = MessageLimits.textBytesMax

extension StatusReport.ProcessStatus: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Process
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__process__init }
    static var blank: Self { Self(kind: .coordinator, pid: 0, state: "", restarts: 0, jobs: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "Process.kind")
        try map.number(&pid, &wire.pointee.pid, "Process.pid")
        try map.text(&state, &wire.pointee.state, "Process.state", limit: textMax)
        try map.number(&restarts, &wire.pointee.restarts, "Process.restarts")
        try map.number(&jobs, &wire.pointee.jobs, "Process.jobs")
        try map.bits(&sandbox, &wire.pointee.sandbox, "Process.sandbox")
        try map.number(&credit, &wire.pointee.credit, "Process.credit")
        try map.pool(&pool, of: kind, &wire.pointee.pool, "Process.pool")
    }
}

extension StatusReport.FrontStatus: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Front
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__front__init }
    static var blank: Self { Self(process: .blank, pid: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&process, &wire.pointee.process, "Front.process")
        try map.number(&pid, &wire.pointee.pid, "Front.pid")
    }
}

extension StatusReport.PoolStatus: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Pool
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__pool__init }
    static var blank: Self {
        Self(
            name: PoolName(.coordinator), kind: .coordinator, isExternal: false, workers: 0,
            jobs: 0,
            credit: 0, queued: 0, outputBytes: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var name: PoolName? = self.name
        try map.formed(&name, &wire.pointee.name, "Pool.name")
        guard let name else { throw .field("Pool.name", .missing) }
        self.name = name
        try map.word(&kind, &wire.pointee.kind, "Pool.kind")
        map.flag(&isExternal, &wire.pointee.foreign, "Pool.foreign")
        try map.number(&workers, &wire.pointee.workers, "Pool.workers")
        try map.number(&jobs, &wire.pointee.jobs, "Pool.jobs")
        try map.number(&credit, &wire.pointee.credit, "Pool.credit")
        try map.number(&queued, &wire.pointee.queued, "Pool.queued")
        try map.number(&outputBytes, &wire.pointee.output_bytes, "Pool.output_bytes")
        map.flag(&getsNoJob, &wire.pointee.gets_no_job, "Pool.gets_no_job")
    }
}

extension StatusReport.SocketStatus: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Socket
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__socket__init }
    static var blank: Self {
        Self(
            name: "", messagesReceived: 0, messagesSent: 0, bytesReceived: 0, bytesSent: 0,
            largestMessage: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "Socket.name", limit: textMax)
        try map.number(
            &messagesReceived, &wire.pointee.messages_received, "Socket.messages_received")
        try map.number(&messagesSent, &wire.pointee.messages_sent, "Socket.messages_sent")
        try map.number(&bytesReceived, &wire.pointee.bytes_received, "Socket.bytes_received")
        try map.number(&bytesSent, &wire.pointee.bytes_sent, "Socket.bytes_sent")
        try map.number(&largestMessage, &wire.pointee.largest_message, "Socket.largest_message")
    }
}

extension StatusReport.Counter: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Counter
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__counter__init }
    static var blank: Self { Self(name: "", value: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "Counter.name", limit: textMax)
        try map.number(&value, &wire.pointee.value, "Counter.value")
    }
}

extension StatusReport.Cancellations: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Cancellations
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__cancellations__init }
    static var blank: Self { Self(stage: "", hard: 0, durations: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&stage, &wire.pointee.stage, "Cancellations.stage", limit: textMax)
        try map.number(&hard, &wire.pointee.hard, "Cancellations.hard")
        try map.part(&durations, unless: false, &wire.pointee.durations, "Cancellations.durations")
    }
}

extension StatusReport.TransferTimes: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Transfers
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__transfers__init }
    static var blank: Self { Self(phase: "", durations: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&phase, &wire.pointee.phase, "Transfers.phase", limit: textMax)
        try map.part(&durations, unless: false, &wire.pointee.durations, "Transfers.durations")
    }
}

extension StatusReport.StageStatus: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Stage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__stage__init }
    static var blank: Self {
        Self(stage: "", queued: 0, queuedCost: 0, running: 0, waits: .blank, works: .blank)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&stage, &wire.pointee.stage, "Stage.stage", limit: textMax)
        try map.number(&queued, &wire.pointee.queued, "Stage.queued")
        try map.number(&queuedCost, &wire.pointee.queued_cost, "Stage.queued_cost")
        try map.number(&running, &wire.pointee.running, "Stage.running")
        try map.part(&waits, unless: false, &wire.pointee.waits, "Stage.waits")
        try map.part(&works, unless: false, &wire.pointee.works, "Stage.works")
    }
}

extension LatencyHistogram: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Histogram
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__histogram__init }
    static var blank: Self { Self() }

    /// Only the nonempty buckets, packed, so that all histograms of a report fit into a frame.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = Self.lastBucket + 1
        var buckets = counts.keys.sorted().map { UInt32($0) }
        var numbers = buckets.map { counts[Int($0)] ?? 0 }
        var sum = self.sum
        try map.numbers(
            &buckets, &wire.pointee.n_buckets, &wire.pointee.buckets, map.container, limit: limit,
            least: 0)
        try map.numbers(
            &numbers, &wire.pointee.n_counts, &wire.pointee.counts, "Histogram.counts",
            limit: limit, least: 0)
        try map.number(&sum, &wire.pointee.microseconds, "Histogram.microseconds")
        self = LatencyHistogram(counts: try Self.counts(buckets, numbers), sum: sum)
    }

    private static func counts(_ buckets: [UInt32], _ numbers: [UInt64]) throws(WireError) -> [Int:
        UInt64]
    {
        guard numbers.count == buckets.count else {
            throw .field("Histogram.counts", .outOfRange)
        }
        var counts: [Int: UInt64] = [:]
        for (bucket, number) in zip(buckets, numbers) {
            let isNew = counts.updateValue(number, forKey: Int(bucket)) == nil
            guard bucket <= lastBucket, isNew else {
                throw .field("Histogram.buckets", .outOfRange)
            }
        }
        return counts
    }
}
