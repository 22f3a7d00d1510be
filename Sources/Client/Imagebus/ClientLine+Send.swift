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
                outbox.append(.other(.release(Array(releases[start..<end]))))
            }
            releases.removeAll()
        }
        var sent = 0
        while sent < outbox.count {
            let count = try transmitLoads(from: sent)
            if count > 0 {
                sent += count
            } else {
                guard try transmit(outbox[sent]) else { break }
                sent += 1
            }
        }
        outbox.removeFirst(sent)
        pending.flushed()
        if outbox.isEmpty { try sendUploads() }
        if outbox.isEmpty { try sendPrefetches() }
    }

    /// Sends loads that follow each other as one message, half of what is under way at most: if all
    /// went together, client and coordinator would work in turns. Returns how many were given to
    /// libzmq: none where there are fewer than two that fit.
    private mutating func transmitLoads(from first: Int) throws(ZMQError) -> Int {
        let most = min(loadsMax, messagesPerTurn)
        guard most > 1, first + 1 < outbox.count, outbox[first].isLoad,
            outbox[first + 1].isLoad
        else { return 0 }
        leavingLoads.removeAll()
        for place in first..<min(first + most, outbox.count) {
            guard case .load(let load) = outbox[place],
                let rest = try? loads.rest(of: load, &encoder),
                leavingLoads.add(load.token, rest.span.bytes)
            else { break }
        }
        guard leavingLoads.count > 1 else { return 0 }
        return try Self.send(&leavingLoads, connection) ? leavingLoads.count : 0
    }

    private static func send(
        _ batch: inout BatchWriter, _ connection: borrowing BusConnection
    ) throws(ZMQError) -> Bool {
        try batch.withMessage { (byteCount, fill) throws(ZMQError) in
            try connection.socket.send(.loads, byteCount: byteCount, fill: fill) == .sent
        }
    }

    /// Whether libzmq has it.
    private mutating func transmit(_ message: OutgoingMessage) throws -> Bool {
        switch message {
        case .load(let load): try transmit(load)
        case .other(let message): try transmitOne(message)
        }
    }

    private mutating func transmit(_ load: PendingLoad) throws(ZMQError) -> Bool {
        let rest: [UInt8]
        do throws(WireError) {
            rest = try loads.rest(of: load, &encoder)
        } catch {
            refuse(load.token, error)
            return true
        }
        let byteCount = TokenedBody.restOffset + rest.count
        return try connection.socket.send(.load, byteCount: byteCount) { frame in
            rest.withUnsafeBytes { TokenedBody.write(load.token, $0, into: frame) }
        } == .sent
    }

    /// Whether libzmq has it. A load that cannot be encoded ends with the reason.
    mutating func transmitOne(_ message: ClientMessage) throws -> Bool {
        do {
            let encoded = try encoder.encode(message)
            return try connection.socket.send(encoded, from: encoder) == .sent
        } catch let error as WireError {
            if case .load(let request) = message { refuse(request.token, error) }
            return true
        }
    }

    private mutating func refuse(_ token: Token, _ error: WireError) {
        let now = Instant.now()
        let refusal = ImageError(.invalidRequest, error.imageError.message)
        perform(pending.refused(refusal, token, at: now), at: now)
    }
}
