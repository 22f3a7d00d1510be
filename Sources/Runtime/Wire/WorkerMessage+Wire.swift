import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Prepares a message of a worker.
    public mutating func encode(_ message: WorkerMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .hello(let hello):
            try prepare(.workerHello, limit: limit) { write throws(WireError) in
                try hello.wire(write)
            }
        case .credit(let jobs):
            try prepare(.credit, limit: limit) { write throws(WireError) in
                let wire = try write.make(imagebus__v1__credit__init)
                wire.pointee.jobs = jobs
                return wire
            }
        case .segmentsOpened(let segments):
            try prepare(.segmentsOpened, limit: limit) { write throws(WireError) in
                try SegmentAnnouncement.wire(segments, write)
            }
        case .segmentsClosed(let segments):
            try prepare(.segmentsClosed, limit: limit) { write throws(WireError) in
                try SegmentAnnouncement.wire(segments, write)
            }
        case .progress(let progress):
            try prepare(.progress, limit: limit) { write throws(WireError) in
                try progress.wire(write)
            }
        case .outcome(let outcome):
            try prepare(.outcome, limit: limit) { write throws(WireError) in
                try outcome.wire(write)
            }
        case .stored(let notice):
            try prepare(.stored, limit: limit) { write throws(WireError) in
                try notice.wire(write)
            }
        case .evicted(let blocks):
            try prepare(.evicted, limit: limit) { write throws(WireError) in
                try BlockID.evicted(blocks, write)
            }
        case .cacheStatus(let status):
            try prepare(.cacheStatus, limit: limit) { write throws(WireError) in
                try status.wire(write)
            }
        case .goodbye(let reason):
            try prepare(.goodbye, limit: limit) { write throws(WireError) in
                try reason.wire(write)
            }
        }
    }
}

extension MessageDecoder {
    /// Reads what a worker sent.
    public mutating func workerMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> WorkerMessage
    {
        switch kind {
        case .workerHello:
            try decode(body, limit: limit, imagebus__v1__worker_hello__unpack) {
                part, read throws(WireError) in .hello(try WorkerHello(part, read))
            }
        case .credit:
            try decode(body, limit: limit, imagebus__v1__credit__unpack) {
                part, _ throws(WireError) in .credit(part.jobs)
            }
        case .segmentsOpened:
            try decode(body, limit: limit, imagebus__v1__segments__unpack) {
                part, read throws(WireError) in
                .segmentsOpened(try SegmentAnnouncement.list(part, read))
            }
        case .segmentsClosed:
            try decode(body, limit: limit, imagebus__v1__segments__unpack) {
                part, read throws(WireError) in
                .segmentsClosed(try SegmentAnnouncement.list(part, read))
            }
        case .progress:
            try decode(body, limit: limit, imagebus__v1__progress__unpack) {
                part, read throws(WireError) in .progress(try JobProgress(part, read))
            }
        case .outcome:
            try decode(body, limit: limit, imagebus__v1__outcome__unpack) {
                part, read throws(WireError) in .outcome(try JobOutcome(part, read))
            }
        case .stored:
            try decode(body, limit: limit, imagebus__v1__stored__unpack) {
                part, read throws(WireError) in .stored(try StoredNotice(part, read))
            }
        case .evicted:
            try decode(body, limit: limit, imagebus__v1__evicted__unpack) {
                part, _ throws(WireError) in
                .evicted(try BlockID.list(part.n_blocks, part.blocks, "Evicted.blocks"))
            }
        case .cacheStatus:
            try decode(body, limit: limit, imagebus__v1__cache_status__unpack) {
                part, read throws(WireError) in .cacheStatus(try CacheStatus(part, read))
            }
        case .goodbye:
            try decode(body, limit: limit, imagebus__v1__goodbye__unpack) {
                part, read throws(WireError) in
                .goodbye(try GoodbyeReason(part, read))
            }
        default: throw .unexpectedKind(kind)
        }
    }
}
