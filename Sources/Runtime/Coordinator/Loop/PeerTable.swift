import Linux
import Model
import ZeroMQ

/// All sessions, indexed by ID, by listener and routing ID, and by connection.
struct PeerTable {
    private struct Address<Place: Hashable>: Hashable {
        let listener: Listener
        let place: Place

        /// The same place at several listeners is rare.
        func hash(into hasher: inout Hasher) { hasher.combine(place) }
    }

    private var peers: [UInt64: Peer] = [:]
    private var byRouting: [Address<RoutingID>: UInt64] = [:]
    private var byConnection: [Address<ConnectionLedger.Connection>: UInt64] = [:]
    private(set) var workers = WorkerProcesses()
    private var lastID: UInt64 = 0

    var count: Int { peers.count }

    /// All sessions in the order in which they began.
    var all: [Peer] { peers.keys.sorted().compactMap { peers[$0] } }

    /// Returns the number of matching sessions.
    func count(where isMeant: (Peer) -> Bool) -> Int { peers.values.count(where: isMeant) }

    subscript(id: UInt64) -> Peer? {
        get { peers[id] }
        set { peers[id] = newValue }
    }

    /// Returns whether the peer has no queued messages and reads `results/` directly.
    func takesReferences(_ id: UInt64) -> Bool {
        peers[id].map { $0.outbox.isEmpty && !$0.wantsChunks } ?? false
    }

    /// Returns whether it supports several replies in one message.
    func takesBatches(_ id: UInt64) -> Bool {
        if case .client(let hello)? = peers[id]?.role { hello.takesBatches } else { false }
    }

    /// Returns whether it supports releases within a job message.
    func takesReleases(_ id: UInt64) -> Bool {
        if case .worker(_, let hello)? = peers[id]?.role { hello.takesReleases } else { false }
    }

    /// The clients' sessions in the order in which they began.
    var clients: [ClientID] {
        all.filter { if case .client = $0.role { true } else { false } }.map { ClientID($0.id) }
    }

    func id(at listener: Listener, _ routing: RoutingID) -> UInt64? {
        byRouting[Address(listener: listener, place: routing)]
    }

    func id(at listener: Listener, _ connection: ConnectionLedger.Connection) -> UInt64? {
        byConnection[Address(listener: listener, place: connection)]
    }

    /// Begins a session and returns its ID.
    mutating func insert(
        listener: Listener, routing: RoutingID, connection: ConnectionLedger.Connection,
        role: Peer.Role, process: ProcessID? = nil
    ) -> UInt64 {
        lastID += 1
        peers[lastID] = Peer(
            id: lastID, listener: listener, routing: routing, connection: connection, role: role,
            process: process)
        if case .worker(_, let hello) = role {
            workers.insert(lastID, process, hello.incarnation, at: listener)
        }
        byRouting[Address(listener: listener, place: routing)] = lastID
        byConnection[Address(listener: listener, place: connection)] = lastID
        return lastID
    }

    /// Ends a session.
    mutating func remove(_ id: UInt64) -> Peer? {
        guard let peer = peers.removeValue(forKey: id) else { return nil }
        let routing = Address(listener: peer.listener, place: peer.routing)
        if byRouting[routing] == id { byRouting[routing] = nil }
        let connection = Address(listener: peer.listener, place: peer.connection)
        if byConnection[connection] == id { byConnection[connection] = nil }
        if case .worker(_, let hello) = peer.role {
            workers.remove(id, peer.process, hello.incarnation, at: peer.listener)
        }
        return peer
    }
}

/// A session: one connection of one process, starting with its `Hello`.
struct Peer {
    indirect enum Role: Hashable {
        case client(ClientHello)
        case worker(PoolID, WorkerHello)
    }

    /// Never reused; equals the value of its `ClientID` or `WorkerID`.
    let id: UInt64
    let listener: Listener
    let routing: RoutingID
    let connection: ConnectionLedger.Connection
    let role: Role
    /// The process ID in the coordinator's PID namespace, as reported by the kernel.
    let process: ProcessID?
    /// Messages that could not be sent yet, in order.
    var outbox = Outbox()
    /// Its last status report, if it is a cache.
    var cacheStatus: CacheStatus?
    /// Whether the worker said goodbye and so gets no new jobs.
    var isLeaving = false

    var isWorker: Bool { if case .worker = role { true } else { false } }

    /// Whether it is a client that can't read `results/` directly.
    var wantsChunks: Bool { if case .client(let hello) = role { hello.wantsChunks } else { false } }
}

/// The queue of messages for a peer that doesn't read fast enough.
struct Outbox {
    /// A message to a client or a worker.
    enum Message {
        case toClient(ServerMessage)
        case toWorker(WorkerCommand)
    }

    private(set) var waiting: [Message] = []
    /// The maximum number of queued messages: four times the replies that a client's window
    /// permits, because hits are answered beyond it.
    static let messagesMax = 4 * MessageLimits.windowMax
    /// Since when the peer has accepted nothing.
    var blockedSince: Instant?

    var isEmpty: Bool { waiting.isEmpty }

    /// Queues a message. Of progress, only the newest message per request and batch is kept; all
    /// others are kept in order. Returns `false` if the queue is full: since no message may be
    /// dropped, the session must end.
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

/// The processes with worker sessions: each process has at most one, and each incarnation belongs
/// to one process.
///
/// Otherwise a compromised worker could take as many jobs as it opens connections, or present the
/// segments of another worker as its own.
struct WorkerProcesses {
    private var byProcess: [ProcessID: UInt64] = [:]
    private var byIncarnation: [Incarnation: UInt64] = [:]
    /// The number of sessions per listener whose process the kernel doesn't identify, because it is
    /// in another PID namespace.
    private var unseen: [Listener: Int] = [:]

    /// The maximum number of sessions of unidentified processes per listener: more than there are
    /// containers of a kind.
    static let unseenMax = 64

    /// The decision about a hello.
    enum Admission: Equatable {
        /// A session begins; the given session of the same process ends before.
        case welcome(insteadOf: UInt64?)
        /// No session begins: another process has that incarnation, or there are too many
        /// unidentified processes. A later hello may succeed.
        case refuse
    }

    /// Decides whether a session may begin.
    func admit(_ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener)
        -> Admission
    {
        let own = process.flatMap { byProcess[$0] }
        if let namesake = byIncarnation[incarnation], namesake != own { return .refuse }
        if process == nil, unseen[listener, default: 0] >= Self.unseenMax { return .refuse }
        return .welcome(insteadOf: own)
    }

    mutating func insert(
        _ id: UInt64, _ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener
    ) {
        byIncarnation[incarnation] = id
        if let process { byProcess[process] = id } else { unseen[listener, default: 0] += 1 }
    }

    mutating func remove(
        _ id: UInt64, _ process: ProcessID?, _ incarnation: Incarnation, at listener: Listener
    ) {
        if byIncarnation[incarnation] == id { byIncarnation[incarnation] = nil }
        guard let process else {
            unseen[listener, default: 0] -= 1
            return
        }
        if byProcess[process] == id { byProcess[process] = nil }
    }
}
