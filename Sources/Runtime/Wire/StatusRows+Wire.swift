import CMessages
import Messages

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
            name: PoolName(.coordinator), kind: .coordinator, isForeign: false, workers: 0, jobs: 0,
            credit: 0, queued: 0, outputBytes: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var name: PoolName? = self.name
        try map.formed(&name, &wire.pointee.name, "Pool.name")
        guard let name else { throw .field("Pool.name", .missing) }
        self.name = name
        try map.word(&kind, &wire.pointee.kind, "Pool.kind")
        map.flag(&isForeign, &wire.pointee.foreign, "Pool.foreign")
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
