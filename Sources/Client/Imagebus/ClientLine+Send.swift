import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Wire
import ZeroMQ

// What goes to the coordinator, in order.
extension ClientLine {
    mutating func sendOutbox() throws {
        if !releases.isEmpty, isWelcome {
            for start in stride(from: 0, to: releases.count, by: MessageLimits.idsMax) {
                let end = min(start + MessageLimits.idsMax, releases.count)
                outbox.append(.release(Array(releases[start..<end])))
            }
            releases.removeAll()
        }
        var sent = 0
        while sent < outbox.count {
            guard try transmit(outbox[sent]) else { break }
            sent += 1
        }
        outbox.removeFirst(sent)
        pending.flushed()
        if outbox.isEmpty { try sendUploads() }
        if outbox.isEmpty { try sendPrefetches() }
    }

    /// Whether libzmq has it. A request that cannot be encoded ends with the reason.
    mutating func transmit(_ message: ClientMessage) throws -> Bool {
        do {
            if case .load(let load) = message, let rest = loads.rest(of: load) {
                return try transmit(load.token, rest)
            }
            let encoded = try encoder.encode(message)
            if case .load(let load) = message { loads.keep(load, encoder.packed()) }
            return try connection.socket.send(encoded, from: encoder) == .sent
        } catch let error as WireError {
            if case .load(let request) = message {
                let now = Instant.now()
                let refusal = ImageError(.invalidRequest, error.imageError.message)
                perform(pending.refused(refusal, request.token, at: now), at: now)
            }
            return true
        }
    }

    /// Sends a load of which all but the token was encoded before.
    private borrowing func transmit(_ token: Token, _ rest: [UInt8]) throws(ZMQError) -> Bool {
        let byteCount = TokenedBody.restOffset + rest.count
        return try connection.socket.send(.load, byteCount: byteCount) { frame in
            rest.withUnsafeBytes { TokenedBody.write(token, $0, into: frame) }
        } == .sent
    }
}
