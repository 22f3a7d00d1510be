import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Prepares a message of a worker.
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
    /// Reads what a worker sent.
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
