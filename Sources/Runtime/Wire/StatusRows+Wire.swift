import CMessages
import Messages

private let textMax = MessageLimits.textBytesMax

extension StatusReport.ProcessStatus {
    init(_ wire: Imagebus__V1__StatusReport__Process, _ read: FieldReader) throws(WireError) {
        self.init(
            kind: try read.known(wire.kind.rawValue, "Process.kind"), pid: wire.pid,
            state: try read.text(wire.state, "Process.state", limit: textMax),
            restarts: wire.restarts, jobs: wire.jobs,
            sandbox: SandboxLayers(rawValue: wire.sandbox))
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
        var counts: [Int: UInt64] = [:]
        _ = try read.list(
            wire.n_buckets, wire.buckets, "Cancellations.buckets",
            limit: LatencyHistogram.lastBucket + 1
        ) { part throws(WireError) in
            guard part.number <= LatencyHistogram.lastBucket else {
                throw .field("Bucket.number", .outOfRange)
            }
            counts[Int(part.number)] = part.count
        }
        self.init(
            stage: try read.text(wire.stage, "Cancellations.stage", limit: textMax),
            hard: wire.hard, durations: LatencyHistogram(counts: counts))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__StatusReport__Cancellations>
    {
        let wire = try write.make(imagebus__v1__status_report__cancellations__init)
        wire.pointee.stage = try write.text(stage, "Cancellations.stage", limit: textMax)
        wire.pointee.hard = hard
        let buckets = durations.counts.sorted { $0.key < $1.key }
        wire.pointee.n_buckets = buckets.count
        wire.pointee.buckets = try write.list(
            buckets, "Cancellations.buckets", limit: LatencyHistogram.lastBucket + 1
        ) { bucket throws(WireError) in
            let wire = try write.make(imagebus__v1__status_report__bucket__init)
            wire.pointee.number = UInt32(bucket.key)
            wire.pointee.count = bucket.value
            return wire
        }
        return wire
    }
}
