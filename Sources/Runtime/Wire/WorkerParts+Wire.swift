import CMessages
import ImageModel
import Messages

extension WorkerHello {
    init(_ wire: Imagebus__V1__WorkerHello, _ read: FieldReader) throws(WireError) {
        self.init(
            incarnation: Incarnation(
                try read.identifier(wire.incarnation, "WorkerHello.incarnation")),
            pid: wire.pid, restarts: wire.restarts,
            version: try read.text(
                wire.version, "WorkerHello.version", limit: MessageLimits.textBytesMax),
            credit: wire.credit, sandbox: SandboxLayers(rawValue: wire.sandbox),
            secret: try ListenerSecret(wire.secret, "WorkerHello.secret", read),
            capabilities: try wire.capabilities.map { part throws(WireError) in
                try WorkerCapabilities(part.pointee, read)
            } ?? .all)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__WorkerHello>
    {
        let wire = try write.make(imagebus__v1__worker_hello__init)
        wire.pointee.incarnation = try write.bytes(incarnation.value)
        wire.pointee.pid = pid
        wire.pointee.restarts = restarts
        wire.pointee.version = try write.text(
            version, "WorkerHello.version", limit: MessageLimits.textBytesMax)
        wire.pointee.credit = credit
        wire.pointee.sandbox = sandbox.rawValue
        if let secret { wire.pointee.secret = try secret.wire("WorkerHello.secret", write) }
        if capabilities != .all { wire.pointee.capabilities = try capabilities.wire(write) }
        return wire
    }
}

extension JobProgress {
    init(_ wire: Imagebus__V1__Progress, _ read: FieldReader) throws(WireError) {
        self.init(
            id: JobID(try read.counted(wire.id, "Progress.id")),
            attempt: try read.counted(wire.attempt, "Progress.attempt"),
            received: wire.received, expected: wire.expected)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Progress>
    {
        let wire = try write.make(imagebus__v1__progress__init)
        wire.pointee.id = try write.counted(id.value, "Progress.id")
        wire.pointee.attempt = try write.counted(attempt, "Progress.attempt")
        wire.pointee.received = received
        wire.pointee.expected = expected
        return wire
    }
}

extension StoredNotice {
    init(_ wire: Imagebus__V1__Stored, _ read: FieldReader) throws(WireError) {
        self.init(
            key: try read.text(wire.key, "Stored.key", limit: MessageLimits.keyBytesMax),
            reference: try BlockReference(
                try read.required(wire.reference, "Stored.reference"), read),
            info: try ImageInfo(try read.required(wire.info, "Stored.info"), read),
            expiresInMilliseconds: wire.maybe_expires_in_milliseconds_case.rawValue == 0
                ? nil : wire.expires_in_milliseconds)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Stored>
    {
        let wire = try write.make(imagebus__v1__stored__init)
        wire.pointee.key = try write.text(key, "Stored.key", limit: MessageLimits.keyBytesMax)
        wire.pointee.reference = try reference.wire(write)
        wire.pointee.info = try info.wire(write)
        if let expiresInMilliseconds {
            wire.pointee.maybe_expires_in_milliseconds_case =
                IMAGEBUS__V1__STORED__MAYBE_EXPIRES_IN_MILLISECONDS_EXPIRES_IN_MILLISECONDS
            wire.pointee.expires_in_milliseconds = expiresInMilliseconds
        }
        return wire
    }
}
