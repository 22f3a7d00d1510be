import Messages
import ZeroMQ

/// A session: one connection of one process, from its `Hello` on.
struct Peer {
    /// Who it is.
    enum Role: Hashable {
        case client(ClientHello)
        case worker(WorkerKind, WorkerHello)
    }

    /// Never reused; the value of its `ClientID` or `WorkerID`.
    let id: UInt64
    let door: Door
    let routing: RoutingID
    let connection: ConnectionLedger.Connection
    let role: Role
    /// Messages that found no room, in order.
    var outbox = Outbox()
    /// A worker that said goodbye takes nothing new.
    var isLeaving = false
}

/// Messages for one peer that does not read fast enough.
struct Outbox {
    /// A message to either side of the bus.
    enum Message {
        case toClient(ServerMessage)
        case toWorker(WorkerCommand)
    }

    private(set) var waiting: [Message] = []
    /// Since when nothing was taken.
    var blockedSince: Instant?

    var isEmpty: Bool { waiting.isEmpty }

    /// Of progress only the newest is kept for each request; all else is kept in order.
    mutating func append(_ message: Message) {
        if case .toClient(.progress(let new)) = message {
            waiting.removeAll { old in
                if case .toClient(.progress(let progress)) = old {
                    return progress.token == new.token
                }
                return false
            }
        }
        waiting.append(message)
    }

    mutating func removeFirst(_ count: Int) { waiting.removeFirst(count) }
}
