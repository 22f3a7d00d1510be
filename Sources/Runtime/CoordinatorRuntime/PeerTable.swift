import Admission
import Linux
import Messages
import ZeroMQ

/// All sessions, by id, by listener and routing id, and by connection.
struct PeerTable {
    private struct Address: Hashable {
        let listener: Listener
        let routing: RoutingID
    }
    private struct Line: Hashable {
        let listener: Listener
        let connection: ConnectionLedger.Connection
    }

    private var peers: [UInt64: Peer] = [:]
    private var byAddress: [Address: UInt64] = [:]
    private var byLine: [Line: UInt64] = [:]
    private(set) var workers = WorkerProcesses()
    private var lastID: UInt64 = 0

    var count: Int { peers.count }

    /// All sessions in the order in which they began.
    var all: [Peer] { peers.keys.sorted().compactMap { peers[$0] } }

    /// How many sessions are such.
    func count(where isMeant: (Peer) -> Bool) -> Int { peers.values.count(where: isMeant) }

    subscript(id: UInt64) -> Peer? {
        get { peers[id] }
        set { peers[id] = newValue }
    }

    /// Whether nothing waits for room in the peer's queue, and it opens `results/` by itself.
    func takesReferences(_ id: UInt64) -> Bool {
        peers[id].map { $0.outbox.isEmpty && !$0.wantsPieces } ?? false
    }

    /// Whether it reads several replies in one message.
    func takesBatches(_ id: UInt64) -> Bool {
        if case .client(let hello)? = peers[id]?.role { hello.takesBatches } else { false }
    }

    /// Whether it reads releases that come with a job.
    func takesReleases(_ id: UInt64) -> Bool {
        if case .worker(_, let hello)? = peers[id]?.role { hello.takesReleases } else { false }
    }

    /// The sessions of clients, in the order in which they began.
    var clients: [ClientID] {
        all.filter { if case .client = $0.role { true } else { false } }.map { ClientID($0.id) }
    }

    func id(at listener: Listener, _ routing: RoutingID) -> UInt64? {
        byAddress[Address(listener: listener, routing: routing)]
    }

    func id(at listener: Listener, _ connection: ConnectionLedger.Connection) -> UInt64? {
        byLine[Line(listener: listener, connection: connection)]
    }

    /// Begins a session and returns its id.
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
        byAddress[Address(listener: listener, routing: routing)] = lastID
        byLine[Line(listener: listener, connection: connection)] = lastID
        return lastID
    }

    /// Ends a session.
    mutating func remove(_ id: UInt64) -> Peer? {
        guard let peer = peers.removeValue(forKey: id) else { return nil }
        let address = Address(listener: peer.listener, routing: peer.routing)
        if byAddress[address] == id { byAddress[address] = nil }
        let line = Line(listener: peer.listener, connection: peer.connection)
        if byLine[line] == id { byLine[line] = nil }
        if case .worker(_, let hello) = peer.role {
            workers.remove(id, peer.process, hello.incarnation, at: peer.listener)
        }
        return peer
    }
}

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

/// Which processes have sessions as workers: each has one, and each life is one process'.
///
/// Else a compromised worker could take as many jobs as it opens connections, or hand over the
/// segments of another one as its own.
struct WorkerProcesses {
    private var byProcess: [ProcessID: UInt64] = [:]
    private var byIncarnation: [Incarnation: UInt64] = [:]
    /// Sessions by listener whose process the kernel does not name: it is in another PID namespace.
    private var unseen: [Listener: Int] = [:]

    /// Sessions of unseen processes at one listener: more than there are containers of a kind.
    static let unseenMax = 64

    /// What becomes of a hello.
    enum Admission: Equatable {
        /// A session begins; that one, of the same process, ends before.
        case welcome(insteadOf: UInt64?)
        /// No session begins: another process has that incarnation, or there are too many of which
        /// the process is not seen. Who says hello again may be welcome later.
        case refuse
    }

    /// Whether a session may begin.
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
