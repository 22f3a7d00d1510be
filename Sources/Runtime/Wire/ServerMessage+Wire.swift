import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Prepares a message to a client.
    public mutating func encode(_ message: ServerMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .welcome(let welcome):
            try prepare(.clientWelcome, limit: limit) { write throws(WireError) in
                try welcome.wire(write)
            }
        case .helloRequired:
            try prepare(.helloRequired, limit: limit) { write throws(WireError) in
                try write.make(imagebus__v1__hello_required__init)
            }
        case .progress(let progress):
            try prepare(.event, limit: limit) { write throws(WireError) in
                try progress.wire(write)
            }
        case .reply(let reply):
            try prepare(.reply, limit: limit) { write throws(WireError) in try reply.wire(write) }
        case .status(let report):
            try prepare(.statusReport, limit: limit) { write throws(WireError) in
                try report.wire(write)
            }
        case .blacklist(let report):
            try prepare(.blacklistReport, limit: limit) { write throws(WireError) in
                try report.wire(write)
            }
        case .cache(let report):
            try prepare(.cacheReport, limit: limit) { write throws(WireError) in
                try report.wire(write)
            }
        case .piece(let piece):
            try prepare(.piece, limit: limit) { write throws(WireError) in try piece.wire(write) }
        case .taken(let bytes):
            try prepare(.taken, limit: limit) { write throws(WireError) in
                try Piece.taken(bytes, write)
            }
        case .prefetched(let report):
            try prepare(.prefetchReport, limit: limit) { write throws(WireError) in
                try report.wire(write)
            }
        case .draining(let processes):
            try prepare(.drainReport, limit: limit) { write throws(WireError) in
                let wire = try write.make(imagebus__v1__drain_report__init)
                wire.pointee.processes = processes
                return wire
            }
        case .refused(let error, let token):
            try prepare(.refused, limit: limit) { write throws(WireError) in
                try error.refusal(of: token, write)
            }
        }
    }
}

extension MessageDecoder {
    /// Reads what the coordinator sent to a client. Throws `versionRefused` where it refused us.
    public mutating func serverMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ServerMessage
    {
        switch kind {
        case .versions: throw VersionRefusal.error(body)
        case .clientWelcome:
            try decode(body, limit: limit, imagebus__v1__client_welcome__unpack) {
                part, read throws(WireError) in .welcome(try ClientWelcome(part, read))
            }
        case .helloRequired:
            try decode(body, limit: limit, imagebus__v1__hello_required__unpack) {
                _, _ throws(WireError) in .helloRequired
            }
        case .event:
            try decode(body, limit: limit, imagebus__v1__event__unpack) {
                part, read throws(WireError) in .progress(try RequestProgress(part, read))
            }
        case .reply:
            try decode(body, limit: limit, imagebus__v1__reply__unpack) {
                part, read throws(WireError) in .reply(try Reply(part, read))
            }
        case .statusReport:
            try decode(body, limit: limit, imagebus__v1__status_report__unpack) {
                part, read throws(WireError) in .status(try StatusReport(part, read))
            }
        case .blacklistReport:
            try decode(body, limit: limit, imagebus__v1__blacklist_report__unpack) {
                part, read throws(WireError) in .blacklist(try BlacklistReport(part, read))
            }
        case .cacheReport:
            try decode(body, limit: limit, imagebus__v1__cache_report__unpack) {
                part, read throws(WireError) in .cache(try CacheReport(part, read))
            }
        case .piece:
            try decode(body, limit: limit, imagebus__v1__piece__unpack) {
                part, read throws(WireError) in .piece(try Piece(part, read))
            }
        case .taken:
            try decode(body, limit: limit, imagebus__v1__taken__unpack) {
                part, read throws(WireError) in .taken(try Piece.taken(part, read))
            }
        case .prefetchReport:
            try decode(body, limit: limit, imagebus__v1__prefetch_report__unpack) {
                part, read throws(WireError) in .prefetched(try PrefetchReport(part, read))
            }
        case .drainReport:
            try decode(body, limit: limit, imagebus__v1__drain_report__unpack) {
                part, _ throws(WireError) in .draining(part.processes)
            }
        case .refused:
            try decode(body, limit: limit, imagebus__v1__refused__unpack) {
                part, read throws(WireError) in
                .refused(try ImageError(refusal: part, read), try Token.refused(part, read))
            }
        default: throw .unexpectedKind(kind)
        }
    }
}
