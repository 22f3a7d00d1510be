import CMessages
import Messages

private let textMax = MessageLimits.textBytesMax

extension StatusReport.ProcessStatus {
    init(_ wire: Imagebus__V1__StatusReport__Process, _ read: FieldReader) throws(WireError) {
        self.init(
            kind: try read.known(wire.kind.rawValue, "Process.kind"), pid: wire.pid,
            state: try read.text(wire.state, "Process.state", limit: textMax),
            restarts: wire.restarts, jobs: wire.jobs,
            sandbox: SandboxLayers(rawValue: wire.sandbox), credit: wire.credit,
            pool: try PoolName(wire: wire.pool, "Process.pool", read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Process>
    {
        let wire = try write.make(imagebus__v1__status_report__process__init)
        wire.pointee.kind = .init(rawValue: .init(kind.rawValue))
        wire.pointee.pid = pid
        wire.pointee.state = try write.text(state, "Process.state", limit: textMax)
        wire.pointee.restarts = restarts
        wire.pointee.jobs = jobs
        wire.pointee.sandbox = sandbox.rawValue
        wire.pointee.credit = credit
        if pool != PoolName(kind) { wire.pointee.pool = try pool.wire("Process.pool", write) }
        return wire
    }
}

extension StatusReport.PoolStatus {
    init(_ wire: Imagebus__V1__StatusReport__Pool, _ read: FieldReader) throws(WireError) {
        guard let name = try PoolName(wire: wire.name, "Pool.name", read) else {
            throw .field("Pool.name", .missing)
        }
        self.init(
            name: name, kind: try read.known(wire.kind.rawValue, "Pool.kind"),
            isForeign: wire.foreign != 0, workers: wire.workers, jobs: wire.jobs,
            credit: wire.credit, queued: wire.queued, outputBytes: wire.output_bytes)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Pool>
    {
        let wire = try write.make(imagebus__v1__status_report__pool__init)
        wire.pointee.name = try name.wire("Pool.name", write)
        wire.pointee.kind = .init(rawValue: .init(kind.rawValue))
        wire.pointee.foreign = isForeign ? 1 : 0
        wire.pointee.workers = workers
        wire.pointee.jobs = jobs
        wire.pointee.credit = credit
        wire.pointee.queued = queued
        wire.pointee.output_bytes = outputBytes
        return wire
    }
}

extension StatusReport.SocketStatus {
    init(_ wire: Imagebus__V1__StatusReport__Socket, _ read: FieldReader) throws(WireError) {
        self.init(
            name: try read.text(wire.name, "Socket.name", limit: textMax),
            messagesReceived: wire.messages_received, messagesSent: wire.messages_sent,
            bytesReceived: wire.bytes_received, bytesSent: wire.bytes_sent,
            largestMessage: wire.largest_message)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Socket>
    {
        let wire = try write.make(imagebus__v1__status_report__socket__init)
        wire.pointee.name = try write.text(name, "Socket.name", limit: textMax)
        wire.pointee.messages_received = messagesReceived
        wire.pointee.messages_sent = messagesSent
        wire.pointee.bytes_received = bytesReceived
        wire.pointee.bytes_sent = bytesSent
        wire.pointee.largest_message = largestMessage
        return wire
    }
}

extension StatusReport.Counter {
    init(_ wire: Imagebus__V1__StatusReport__Counter, _ read: FieldReader) throws(WireError) {
        self.init(
            name: try read.text(wire.name, "Counter.name", limit: textMax), value: wire.value)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Counter>
    {
        let wire = try write.make(imagebus__v1__status_report__counter__init)
        wire.pointee.name = try write.text(name, "Counter.name", limit: textMax)
        wire.pointee.value = value
        return wire
    }
}

extension StatusReport.Cancellations {
    init(_ wire: Imagebus__V1__StatusReport__Cancellations, _ read: FieldReader)
        throws(WireError)
    {
        self.init(
            stage: try read.text(wire.stage, "Cancellations.stage", limit: textMax),
            hard: wire.hard,
            durations: try LatencyHistogram(wire.durations, "Cancellations.durations"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Cancellations>
    {
        let wire = try write.make(imagebus__v1__status_report__cancellations__init)
        wire.pointee.stage = try write.text(stage, "Cancellations.stage", limit: textMax)
        wire.pointee.hard = hard
        wire.pointee.durations = try durations.wire(write)
        return wire
    }
}

extension StatusReport.StageStatus {
    init(_ wire: Imagebus__V1__StatusReport__Stage, _ read: FieldReader) throws(WireError) {
        self.init(
            stage: try read.text(wire.stage, "Stage.stage", limit: textMax),
            queued: wire.queued, queuedCost: wire.queued_cost, running: wire.running,
            waits: try LatencyHistogram(wire.waits, "Stage.waits"),
            works: try LatencyHistogram(wire.works, "Stage.works"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Stage>
    {
        let wire = try write.make(imagebus__v1__status_report__stage__init)
        wire.pointee.stage = try write.text(stage, "Stage.stage", limit: textMax)
        wire.pointee.queued = queued
        wire.pointee.queued_cost = queuedCost
        wire.pointee.running = running
        wire.pointee.waits = try waits.wire(write)
        wire.pointee.works = try works.wire(write)
        return wire
    }
}
