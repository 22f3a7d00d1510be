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
