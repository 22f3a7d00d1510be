import Linux
import Messages
import ZeroMQ

/// A session: one connection of one process, from its `Hello` on.
struct Peer {
    /// Who it is.
    indirect enum Role: Hashable {
        case client(ClientHello)
        case worker(PoolID, WorkerHello)
    }

    /// Never reused; the value of its `ClientID` or `WorkerID`.
    let id: UInt64
    let listener: Listener
    let routing: RoutingID
    let connection: ConnectionLedger.Connection
    let role: Role
    /// Where the coordinator's PID namespace shows it; nobody's word, but the kernel's.
    let process: ProcessID?
    /// Messages that found no room, in order.
    var outbox = Outbox()
    /// What it said last of itself, where it is a cache.
    var cacheStatus: CacheStatus?
    /// A worker that said goodbye takes nothing new.
    var isLeaving = false

    var isWorker: Bool { if case .worker = role { true } else { false } }

    /// Whether it is a client that cannot open `results/`.
    var wantsPieces: Bool { if case .client(let hello) = role { hello.wantsPieces } else { false } }
}

/// Messages for one peer that does not read fast enough.
struct Outbox {
    /// A message to either side of the bus.
    enum Message {
        case toClient(ServerMessage)
        case toWorker(WorkerCommand)
    }

    private(set) var waiting: [Message] = []
    /// Messages that may wait: four times the replies that a client's window permits, since hits
    /// are answered beyond it.
    static let messagesMax = 4 * MessageLimits.windowMax
    /// Since when nothing was taken.
    var blockedSince: Instant?

    var isEmpty: Bool { waiting.isEmpty }

    /// Of progress only the newest is kept for each request and batch; all else is kept in order.
    /// `false` where there is no room: nothing of it may be dropped, so the session has to end.
    mutating func append(_ message: Message) -> Bool {
        switch message {
        case .toClient(.progress(let new)):
            waiting.removeAll { old in
                if case .toClient(.progress(let old)) = old {
                    old.token == new.token
                } else {
                    false
                }
            }
        case .toClient(.prefetched(let new)):
            waiting.removeAll { old in
                if case .toClient(.prefetched(let old)) = old {
                    old.batch == new.batch
                } else {
                    false
                }
            }
        default: break
        }
        guard waiting.count < Self.messagesMax else { return false }
        waiting.append(message)
        return true
    }

    mutating func removeFirst(_ count: Int) { waiting.removeFirst(count) }
}
