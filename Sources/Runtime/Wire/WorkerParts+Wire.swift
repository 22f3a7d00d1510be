import CMessages
import ImageModel
import Messages

extension WorkerHello: WireMessage {
    typealias Form = Imagebus__V1__WorkerHello
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__worker_hello__init }
    static var blank: Self {
        Self(incarnation: .blank, pid: 0, restarts: 0, version: "", credit: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&incarnation, &wire.pointee.incarnation, "WorkerHello.incarnation")
        try map.number(&pid, &wire.pointee.pid, "WorkerHello.pid")
        try map.number(&restarts, &wire.pointee.restarts, "WorkerHello.restarts")
        try map.text(
            &version, &wire.pointee.version, "WorkerHello.version",
            limit: MessageLimits.textBytesMax)
        try map.number(&credit, &wire.pointee.credit, "WorkerHello.credit")
        try map.bits(&sandbox, &wire.pointee.sandbox, "WorkerHello.sandbox")
        try map.secret(&secret, &wire.pointee.secret, "WorkerHello.secret")
        try map.part(
            &capabilities, unless: capabilities == .all, &wire.pointee.capabilities,
            "WorkerHello.capabilities")
        map.flag(&takesReleases, &wire.pointee.takes_releases, "WorkerHello.takes_releases")
    }
}

extension WorkerWelcome: WireMessage {
    typealias Form = Imagebus__V1__WorkerWelcome
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__worker_welcome__init }
    static var blank: Self { Self(epoch: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&epoch, &wire.pointee.epoch, "WorkerWelcome.epoch")
    }
}

extension JobProgress: WireMessage {
    typealias Form = Imagebus__V1__Progress
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__progress__init }
    static var blank: Self { Self(id: JobID(0), attempt: 0, received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "Progress.id")
        try map.counted(&attempt, &wire.pointee.attempt, "Progress.attempt")
        try map.number(&received, &wire.pointee.received, "Progress.received")
        try map.number(&expected, &wire.pointee.expected, "Progress.expected")
        try map.maybe(&arrived, &wire.pointee.arrived, "Progress.arrived")
        try map.word(
            &format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 6,
            "Progress.format")
        map.flag(&isPreview, &wire.pointee.is_preview, "Progress.is_preview")
    }
}

extension StoredNotice: WireMessage {
    typealias Form = Imagebus__V1__Stored
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__stored__init }
    static var blank: Self {
        Self(key: "", reference: .blank, info: .blank, expiresInMilliseconds: nil)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&key, &wire.pointee.key, "Stored.key", limit: MessageLimits.keyBytesMax)
        try map.part(&reference, &wire.pointee.reference, "Stored.reference")
        try map.part(&info, &wire.pointee.info, "Stored.info")
        try map.number(
            &expiresInMilliseconds, &wire.pointee.expires_in_milliseconds,
            if: &wire.pointee.maybe_expires_in_milliseconds_case, 4,
            "Stored.expires_in_milliseconds")
        try map.maybe(&validity, &wire.pointee.validity, "Stored.validity")
        try map.digest(&digest, &wire.pointee.digest, "Stored.digest")
    }
}
