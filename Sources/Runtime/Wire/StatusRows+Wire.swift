import CMessages
import Messages

private let textMax = MessageLimits.textBytesMax

extension StatusReport.ProcessStatus: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Process>?) -> Void {
        imagebus__v1__status_report__process__init
    }
    static var blank: Self { Self(kind: .coordinator, pid: 0, state: "", restarts: 0, jobs: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self,
        _ wire: CPart<Imagebus__V1__StatusReport__Process>
    ) throws(WireError) {
        try map.word(&value.kind, &wire.pointee.kind, "Process.kind")
        try map.number(&value.pid, &wire.pointee.pid, "Process.pid")
        try map.text(&value.state, &wire.pointee.state, "Process.state", limit: textMax)
        try map.number(&value.restarts, &wire.pointee.restarts, "Process.restarts")
        try map.number(&value.jobs, &wire.pointee.jobs, "Process.jobs")
        try map.bits(&value.sandbox, &wire.pointee.sandbox, "Process.sandbox")
        try map.number(&value.credit, &wire.pointee.credit, "Process.credit")
        try map.pool(&value.pool, of: value.kind, &wire.pointee.pool, "Process.pool")
    }
}

extension StatusReport.PoolStatus: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Pool>?) -> Void {
        imagebus__v1__status_report__pool__init
    }
    static var blank: Self {
        Self(
            name: PoolName(.coordinator), kind: .coordinator, isForeign: false, workers: 0, jobs: 0,
            credit: 0, queued: 0, outputBytes: 0)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__StatusReport__Pool>
    ) throws(WireError) {
        var name: PoolName? = value.name
        try map.formed(&name, &wire.pointee.name, "Pool.name")
        guard let name else { throw .field("Pool.name", .missing) }
        value.name = name
        try map.word(&value.kind, &wire.pointee.kind, "Pool.kind")
        map.flag(&value.isForeign, &wire.pointee.foreign, "Pool.foreign")
        try map.number(&value.workers, &wire.pointee.workers, "Pool.workers")
        try map.number(&value.jobs, &wire.pointee.jobs, "Pool.jobs")
        try map.number(&value.credit, &wire.pointee.credit, "Pool.credit")
        try map.number(&value.queued, &wire.pointee.queued, "Pool.queued")
        try map.number(&value.outputBytes, &wire.pointee.output_bytes, "Pool.output_bytes")
    }
}

extension StatusReport.SocketStatus: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Socket>?) -> Void {
        imagebus__v1__status_report__socket__init
    }
    static var blank: Self {
        Self(
            name: "", messagesReceived: 0, messagesSent: 0, bytesReceived: 0, bytesSent: 0,
            largestMessage: 0)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__StatusReport__Socket>
    ) throws(WireError) {
        try map.text(&value.name, &wire.pointee.name, "Socket.name", limit: textMax)
        try map.number(
            &value.messagesReceived, &wire.pointee.messages_received, "Socket.messages_received")
        try map.number(&value.messagesSent, &wire.pointee.messages_sent, "Socket.messages_sent")
        try map.number(&value.bytesReceived, &wire.pointee.bytes_received, "Socket.bytes_received")
        try map.number(&value.bytesSent, &wire.pointee.bytes_sent, "Socket.bytes_sent")
        try map.number(
            &value.largestMessage, &wire.pointee.largest_message, "Socket.largest_message")
    }
}

extension StatusReport.Counter: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Counter>?) -> Void {
        imagebus__v1__status_report__counter__init
    }
    static var blank: Self { Self(name: "", value: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self,
        _ wire: CPart<Imagebus__V1__StatusReport__Counter>
    ) throws(WireError) {
        try map.text(&value.name, &wire.pointee.name, "Counter.name", limit: textMax)
        try map.number(&value.value, &wire.pointee.value, "Counter.value")
    }
}

extension StatusReport.Cancellations: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Cancellations>?) -> Void {
        imagebus__v1__status_report__cancellations__init
    }
    static var blank: Self { Self(stage: "", hard: 0, durations: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self,
        _ wire: CPart<Imagebus__V1__StatusReport__Cancellations>
    ) throws(WireError) {
        try map.text(&value.stage, &wire.pointee.stage, "Cancellations.stage", limit: textMax)
        try map.number(&value.hard, &wire.pointee.hard, "Cancellations.hard")
        try map.part(
            &value.durations, unless: false, &wire.pointee.durations, "Cancellations.durations")
    }
}

extension StatusReport.StageStatus: WireMessage {
    static var begin: (CPart<Imagebus__V1__StatusReport__Stage>?) -> Void {
        imagebus__v1__status_report__stage__init
    }
    static var blank: Self {
        Self(stage: "", queued: 0, queuedCost: 0, running: 0, waits: .blank, works: .blank)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__StatusReport__Stage>
    ) throws(WireError) {
        try map.text(&value.stage, &wire.pointee.stage, "Stage.stage", limit: textMax)
        try map.number(&value.queued, &wire.pointee.queued, "Stage.queued")
        try map.number(&value.queuedCost, &wire.pointee.queued_cost, "Stage.queued_cost")
        try map.number(&value.running, &wire.pointee.running, "Stage.running")
        try map.part(&value.waits, unless: false, &wire.pointee.waits, "Stage.waits")
        try map.part(&value.works, unless: false, &wire.pointee.works, "Stage.works")
    }
}
