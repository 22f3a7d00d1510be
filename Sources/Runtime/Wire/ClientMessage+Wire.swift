import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Prepares a message of a client.
    public mutating func encode(_ message: ClientMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .hello(let hello): try prepare(.clientHello, limit: limit, hello)
        case .load(let request): try prepare(.load, limit: limit, request)
        case .cancel(let token):
            try prepare(.cancel, limit: limit, Cancellation(target: .token(token)))
        case .cancelGroup(let group):
            try prepare(.cancel, limit: limit, Cancellation(target: .group(group)))
        case .reprioritise(let token, let priority):
            try prepare(
                .reprioritise, limit: limit,
                Reprioritisation(target: .token(token), priority: priority))
        case .reprioritiseGroup(let group, let priority):
            try prepare(
                .reprioritise, limit: limit,
                Reprioritisation(target: .group(group), priority: priority))
        case .prefetch(let request): try prepare(.prefetch, limit: limit, request)
        case .release(let blocks):
            try prepare(.release, limit: limit, ReleaseBlocks(blocks: blocks))
        case .status: try prepare(.status, limit: limit, StatusMessage())
        case .blacklist(let command): try prepare(.blacklistCommand, limit: limit, command)
        case .downloads(let command):
            try prepare(.downloadsCommand, limit: limit, DownloadsOrder(command: command))
        case .cache(let command): try prepare(.cacheCommand, limit: limit, command)
        case .piece(let piece): try prepare(.piece, limit: limit, piece)
        case .taken(let bytes): try prepare(.taken, limit: limit, TakenBytes(count: bytes))
        case .used(let used): try prepare(.used, limit: limit, used)
        case .drain(let kind, let pool):
            try prepare(.drainCommand, limit: limit, DrainOrder(kind: kind, pool: pool))
        case .goodbye: try prepare(.goodbye, limit: limit, GoodbyeReason.terminated)
        }
    }
}

extension MessageDecoder {
    /// Reads what a client sent.
    public mutating func clientMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ClientMessage
    {
        switch kind {
        case .clientHello:
            return .hello(try decode(body, limit: limit, imagebus__v1__client_hello__unpack))
        case .load: return .load(try decode(body, limit: limit, imagebus__v1__load__unpack))
        case .cancel:
            let cancellation: Cancellation = try decode(
                body, limit: limit, imagebus__v1__cancel__unpack)
            return switch cancellation.target {
            case .token(let token): .cancel(token)
            case .group(let group): .cancelGroup(group)
            }
        case .reprioritise:
            let change: Reprioritisation = try decode(
                body, limit: limit, imagebus__v1__reprioritise__unpack)
            return switch change.target {
            case .token(let token): .reprioritise(token, change.priority)
            case .group(let group): .reprioritiseGroup(group, change.priority)
            }
        case .prefetch:
            return .prefetch(try decode(body, limit: limit, imagebus__v1__prefetch__unpack))
        case .release:
            return .release(
                (try decode(body, limit: limit, imagebus__v1__release__unpack) as ReleaseBlocks)
                    .blocks)
        case .status:
            _ = try decode(body, limit: limit, imagebus__v1__status__unpack) as StatusMessage
            return .status
        case .piece: return .piece(try decode(body, limit: limit, imagebus__v1__piece__unpack))
        case .taken:
            return .taken(
                (try decode(body, limit: limit, imagebus__v1__taken__unpack) as TakenBytes).count)
        case .used: return .used(try decode(body, limit: limit, imagebus__v1__used__unpack))
        case .goodbye:
            _ = try decode(body, limit: limit, imagebus__v1__goodbye__unpack) as GoodbyeReason
            return .goodbye
        default: return try operatorMessage(kind, body)
        }
    }

    private func downloads(_ order: DownloadsOrder) -> ClientMessage { .downloads(order.command) }

    private func drain(_ order: DrainOrder) -> ClientMessage { .drain(order.kind, order.pool) }

    /// What only an operator may say.
    private mutating func operatorMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ClientMessage
    {
        switch kind {
        case .blacklistCommand:
            .blacklist(try decode(body, limit: limit, imagebus__v1__blacklist_command__unpack))
        case .cacheCommand:
            .cache(try decode(body, limit: limit, imagebus__v1__cache_command__unpack))
        case .downloadsCommand:
            downloads(try decode(body, limit: limit, imagebus__v1__downloads_command__unpack))
        case .drainCommand:
            drain(try decode(body, limit: limit, imagebus__v1__drain_command__unpack))
        default: throw .unexpectedKind(kind)
        }
    }
}
