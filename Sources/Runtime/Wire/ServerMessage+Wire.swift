import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Prepares a message to a client.
    public mutating func encode(_ message: ServerMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .welcome(let welcome): try prepare(.clientWelcome, limit: limit, welcome)
        case .helloRequired: try prepare(.helloRequired, limit: limit, HelloRequiredMessage())
        case .progress(let progress): try prepare(.event, limit: limit, progress)
        case .reply(let reply): try prepare(.reply, limit: limit, reply)
        case .status(let report): try prepare(.statusReport, limit: limit, report)
        case .blacklist(let report): try prepare(.blacklistReport, limit: limit, report)
        case .cache(let report): try prepare(.cacheReport, limit: limit, report)
        case .piece(let piece): try prepare(.piece, limit: limit, piece)
        case .taken(let bytes): try prepare(.taken, limit: limit, TakenBytes(count: bytes))
        case .prefetched(let report): try prepare(.prefetchReport, limit: limit, report)
        case .draining(let processes):
            try prepare(.drainReport, limit: limit, DrainAnswer(processes: processes))
        case .refused(let error, let token):
            try prepare(.refused, limit: limit, Refusal(error: error, token: token))
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
            return .welcome(try decode(body, limit: limit, imagebus__v1__client_welcome__unpack))
        case .helloRequired:
            _ =
                try decode(body, limit: limit, imagebus__v1__hello_required__unpack)
                as HelloRequiredMessage
            return .helloRequired
        case .event: return .progress(try decode(body, limit: limit, imagebus__v1__event__unpack))
        case .reply: return .reply(try decode(body, limit: limit, imagebus__v1__reply__unpack))
        case .statusReport:
            return .status(try decode(body, limit: limit, imagebus__v1__status_report__unpack))
        case .blacklistReport:
            return .blacklist(
                try decode(body, limit: limit, imagebus__v1__blacklist_report__unpack))
        case .cacheReport:
            return .cache(try decode(body, limit: limit, imagebus__v1__cache_report__unpack))
        case .piece: return .piece(try decode(body, limit: limit, imagebus__v1__piece__unpack))
        case .taken:
            return .taken(
                (try decode(body, limit: limit, imagebus__v1__taken__unpack) as TakenBytes).count)
        case .prefetchReport:
            return .prefetched(
                try decode(body, limit: limit, imagebus__v1__prefetch_report__unpack))
        case .drainReport:
            return .draining(
                (try decode(body, limit: limit, imagebus__v1__drain_report__unpack) as DrainAnswer)
                    .processes)
        case .refused:
            let refusal: Refusal = try decode(body, limit: limit, imagebus__v1__refused__unpack)
            return .refused(refusal.error, refusal.token)
        default: throw .unexpectedKind(kind)
        }
    }
}
