import CMessages
public import Model

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Encodes a message of a worker. Throws `tooLarge` if it exceeds the limit of a frame.
    public mutating func encode(_ message: WorkerMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .hello(let hello): try prepare(.workerHello, limit: limit, hello)
        case .credit(let jobs): try prepare(.credit, limit: limit, CreditGrant(jobs: jobs))
        case .segmentsOpened(let segments):
            try prepare(.segmentsOpened, limit: limit, AnnouncedSegments(segments: segments))
        case .segmentsClosed(let segments):
            try prepare(.segmentsClosed, limit: limit, AnnouncedSegments(segments: segments))
        case .progress(let progress): try prepare(.progress, limit: limit, progress)
        case .outcome(let outcome): try prepare(.outcome, limit: limit, outcome)
        case .stored(let notice): try prepare(.stored, limit: limit, notice)
        case .evicted(let blocks):
            try prepare(.evicted, limit: limit, EvictedBlocks(blocks: blocks))
        case .cacheStatus(let status): try prepare(.cacheStatus, limit: limit, status)
        case .goodbye(let reason): try prepare(.goodbye, limit: limit, reason)
        }
    }
}

extension MessageDecoder {
    /// Decodes a message of a worker.
    public mutating func workerMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> WorkerMessage
    {
        switch kind {
        case .workerHello:
            .hello(try decode(body, limit: limit, imagebus__v1__worker_hello__unpack))
        case .credit:
            .credit(
                (try decode(body, limit: limit, imagebus__v1__credit__unpack) as CreditGrant).jobs)
        case .segmentsOpened:
            .segmentsOpened(try segments(body))
        case .segmentsClosed:
            .segmentsClosed(try segments(body))
        case .progress: .progress(try decode(body, limit: limit, imagebus__v1__progress__unpack))
        case .outcome: .outcome(try decode(body, limit: limit, imagebus__v1__outcome__unpack))
        case .stored: .stored(try decode(body, limit: limit, imagebus__v1__stored__unpack))
        case .evicted:
            .evicted(
                (try decode(body, limit: limit, imagebus__v1__evicted__unpack) as EvictedBlocks)
                    .blocks)
        case .cacheStatus:
            .cacheStatus(try decode(body, limit: limit, imagebus__v1__cache_status__unpack))
        case .goodbye: .goodbye(try decode(body, limit: limit, imagebus__v1__goodbye__unpack))
        default: throw .unexpectedKind(kind)
        }
    }

    private mutating func segments(_ body: RawSpan) throws(WireError) -> [SegmentAnnouncement] {
        let announced: AnnouncedSegments = try decode(
            body, limit: limit, imagebus__v1__segments__unpack)
        return announced.segments
    }
}

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

extension WorkerCapabilities: WireMessage {
    typealias Form = Imagebus__V1__Capabilities
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__capabilities__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.entries(&schemes, &wire.pointee.schemes, "Capabilities.schemes")
        try map.entries(&formatsIn, &wire.pointee.formats_in, "Capabilities.formats_in")
        try map.entries(&formatsOut, &wire.pointee.formats_out, "Capabilities.formats_out")
        try map.entries(&steps, &wire.pointee.steps, "Capabilities.steps")
    }
}

extension FieldMap {
    fileprivate func entries(
        _ value: inout Set<String>?, _ member: inout CPart<Imagebus__V1__Capabilities__Names>?,
        _ field: String
    ) throws(WireError) {
        var list = value.map { CapabilityNames(names: $0) }
        try maybe(&list, &member, field)
        value = list?.names
    }
}

/// A list of distinct names; errors name the list.
struct CapabilityNames: WireMessage {
    var names: Set<String>

    typealias Form = Imagebus__V1__Capabilities__Names
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__capabilities__names__init }
    static var blank: Self { Self(names: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var names = self.names.sorted()
        try map.texts(
            &names, &wire.pointee.n_names, &wire.pointee.names, map.container,
            countMax: WorkerCapabilities.entriesMax, limit: WorkerCapabilities.entryBytesMax)
        guard names.allSatisfy(WorkerCapabilities.isEntry) else {
            throw .field(map.container, .unknownValue)
        }
        self.names = Set(names)
        guard self.names.count == names.count else { throw .field(map.container, .duplicate) }
    }
}

extension PoolName: FormedText {
    init?(reading text: String, _ field: String) throws(WireError) {
        guard let name = PoolName(text) else { throw .field(field, .unknownValue) }
        self = name
    }

    fileprivate static let defaults = WorkerKind.allCases.map { PoolName($0) }
}

extension FieldMap {
    /// A pool; omitted if it is the default pool of the kind.
    func pool(
        _ value: inout PoolName, of kind: WorkerKind, _ member: inout CText?, _ field: String
    ) throws(WireError) {
        let ofKind = PoolName.defaults[Int(kind.rawValue)]
        var further = value == ofKind ? nil : value
        try formed(&further, &member, field)
        value = further ?? ofKind
    }
}

extension FieldMap {
    /// An optional secret; empty bytes if absent.
    func secret(
        _ value: inout ListenerSecret?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var bytes = value?.bytes ?? []
        try data(&bytes, &member, field, limit: ListenerSecret.byteCount)
        guard let secret = ListenerSecret(bytes) else { throw .field(field, .outOfRange) }
        value = secret
    }
}

extension GoodbyeReason: WireMessage {
    typealias Form = Imagebus__V1__Goodbye
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__goodbye__init }
    static var blank: Self { .drained }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&self, &wire.pointee.reason, "Goodbye.reason")
    }
}
