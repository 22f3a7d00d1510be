import CMessages
import ImageModel
import Messages

extension WorkerHello: WireMessage {
    static var begin: (CPart<Imagebus__V1__WorkerHello>?) -> Void {
        imagebus__v1__worker_hello__init
    }
    static var blank: Self {
        Self(incarnation: .blank, pid: 0, restarts: 0, version: "", credit: 0)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__WorkerHello>
    ) throws(WireError) {
        try map.identifier(&value.incarnation, &wire.pointee.incarnation, "WorkerHello.incarnation")
        try map.number(&value.pid, &wire.pointee.pid, "WorkerHello.pid")
        try map.number(&value.restarts, &wire.pointee.restarts, "WorkerHello.restarts")
        try map.text(
            &value.version, &wire.pointee.version, "WorkerHello.version",
            limit: MessageLimits.textBytesMax)
        try map.number(&value.credit, &wire.pointee.credit, "WorkerHello.credit")
        try map.bits(&value.sandbox, &wire.pointee.sandbox, "WorkerHello.sandbox")
        try map.secret(&value.secret, &wire.pointee.secret, "WorkerHello.secret")
        try map.part(
            &value.capabilities, unless: value.capabilities == .all, &wire.pointee.capabilities,
            "WorkerHello.capabilities")
    }
}

extension WorkerWelcome: WireMessage {
    static var begin: (CPart<Imagebus__V1__WorkerWelcome>?) -> Void {
        imagebus__v1__worker_welcome__init
    }
    static var blank: Self { Self(epoch: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__WorkerWelcome>
    ) throws(WireError) {
        try map.identifier(&value.epoch, &wire.pointee.epoch, "WorkerWelcome.epoch")
    }
}

extension JobProgress: WireMessage {
    static var begin: (CPart<Imagebus__V1__Progress>?) -> Void { imagebus__v1__progress__init }
    static var blank: Self { Self(id: JobID(0), attempt: 0, received: 0, expected: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Progress>
    ) throws(WireError) {
        try map.counted(&value.id, &wire.pointee.id, "Progress.id")
        try map.counted(&value.attempt, &wire.pointee.attempt, "Progress.attempt")
        try map.number(&value.received, &wire.pointee.received, "Progress.received")
        try map.number(&value.expected, &wire.pointee.expected, "Progress.expected")
    }
}

extension StoredNotice: WireMessage {
    static var begin: (CPart<Imagebus__V1__Stored>?) -> Void { imagebus__v1__stored__init }
    static var blank: Self {
        Self(key: "", reference: .blank, info: .blank, expiresInMilliseconds: nil)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Stored>
    ) throws(WireError) {
        try map.text(&value.key, &wire.pointee.key, "Stored.key", limit: MessageLimits.keyBytesMax)
        try map.part(&value.reference, &wire.pointee.reference, "Stored.reference")
        try map.part(&value.info, &wire.pointee.info, "Stored.info")
        try map.number(
            &value.expiresInMilliseconds, &wire.pointee.expires_in_milliseconds,
            if: &wire.pointee.maybe_expires_in_milliseconds_case, 4,
            "Stored.expires_in_milliseconds")
    }
}
