import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Prepares a message of a client.
    public mutating func encode(_ message: ClientMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .hello(let hello):
            try prepare(.clientHello, limit: limit, hello.wire)
        case .load(let request):
            try prepare(.load, limit: limit, request.wire)
        case .cancel(let token):
            try prepare(.cancel, limit: limit, token.cancel)
        case .cancelGroup(let group):
            try prepare(.cancel, limit: limit, group.cancel)
        case .reprioritise(let token, let priority):
            try prepare(.reprioritise, limit: limit) { write throws(WireError) in
                try priority.wire(of: token, write)
            }
        case .reprioritiseGroup(let group, let priority):
            try prepare(.reprioritise, limit: limit) { write throws(WireError) in
                try priority.wire(of: group, write)
            }
        case .prefetch(let request):
            try prepare(.prefetch, limit: limit, request.wire)
        case .release(let blocks):
            try prepare(.release, limit: limit) { write throws(WireError) in
                try BlockID.release(blocks, write)
            }
        case .status:
            try prepare(.status, limit: limit) { write throws(WireError) in
                try write.make(imagebus__v1__status__init)
            }
        case .blacklist(let command):
            try prepare(.blacklistCommand, limit: limit, command.wire)
        case .cache(let command):
            try prepare(.cacheCommand, limit: limit, command.wire)
        case .piece(let piece):
            try prepare(.piece, limit: limit, piece.wire)
        case .taken(let bytes):
            try prepare(.taken, limit: limit) { write throws(WireError) in
                try Piece.taken(bytes, write)
            }
        case .drain(let kind):
            try prepare(.drainCommand, limit: limit) { write throws(WireError) in
                let wire = try write.make(imagebus__v1__drain_command__init)
                wire.pointee.kind = .init(rawValue: .init(kind.rawValue))
                return wire
            }
        case .goodbye:
            try prepare(.goodbye, limit: limit) { write throws(WireError) in
                try GoodbyeReason.terminated.wire(write)
            }
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
            try decode(body, limit: limit, imagebus__v1__client_hello__unpack) {
                part, read throws(WireError) in .hello(try ClientHello(part, read))
            }
        case .load:
            try decode(body, limit: limit, imagebus__v1__load__unpack) {
                part, read throws(WireError) in .load(try LoadRequest(part, read))
            }
        case .cancel:
            try decode(body, limit: limit, imagebus__v1__cancel__unpack) {
                part, read throws(WireError) in try ClientMessage.cancelling(part, read)
            }
        case .reprioritise:
            try decode(body, limit: limit, imagebus__v1__reprioritise__unpack) {
                part, read throws(WireError) in try ClientMessage.reprioritising(part, read)
            }
        case .prefetch:
            try decode(body, limit: limit, imagebus__v1__prefetch__unpack) {
                part, read throws(WireError) in .prefetch(try PrefetchRequest(part, read))
            }
        case .release:
            try decode(body, limit: limit, imagebus__v1__release__unpack) {
                part, _ throws(WireError) in
                .release(try BlockID.list(part.n_blocks, part.blocks, "Release.blocks"))
            }
        case .status:
            try decode(body, limit: limit, imagebus__v1__status__unpack) {
                _, _ throws(WireError) in .status
            }
        case .piece:
            try decode(body, limit: limit, imagebus__v1__piece__unpack) {
                part, read throws(WireError) in .piece(try Piece(part, read))
            }
        case .taken:
            try decode(body, limit: limit, imagebus__v1__taken__unpack) {
                part, read throws(WireError) in .taken(try Piece.taken(part, read))
            }
        case .goodbye:
            try decode(body, limit: limit, imagebus__v1__goodbye__unpack) {
                part, read throws(WireError) in
                _ = try GoodbyeReason(part, read)
                return .goodbye
            }
        default: try operatorMessage(kind, body)
        }
    }

    /// What only an operator may say.
    private mutating func operatorMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ClientMessage
    {
        switch kind {
        case .blacklistCommand:
            try decode(body, limit: limit, imagebus__v1__blacklist_command__unpack) {
                part, read throws(WireError) in .blacklist(try BlacklistCommand(part, read))
            }
        case .cacheCommand:
            try decode(body, limit: limit, imagebus__v1__cache_command__unpack) {
                part, read throws(WireError) in .cache(try CacheCommand(part, read))
            }
        case .drainCommand:
            try decode(body, limit: limit, imagebus__v1__drain_command__unpack) {
                part, read throws(WireError) in
                .drain(try read.known(part.kind.rawValue, "DrainCommand.kind"))
            }
        default: throw .unexpectedKind(kind)
        }
    }
}
