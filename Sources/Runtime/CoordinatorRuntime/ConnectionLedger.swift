import Linux
import Messages

/// The connections of a gateway: which one a descriptor stands for at the moment, and whether there
/// is a place for one more.
///
/// Descriptors are reused at once: a worker that died and one that has just connected may have the
/// same number. A session therefore belongs to descriptor *and* ordinal.
struct ConnectionLedger {
    /// One connection, of all there ever were on this socket.
    struct Connection: Hashable {
        let descriptor: Int32
        let ordinal: UInt64
    }

    /// Why a connection gets no session.
    enum Refusal: Hashable {
        /// Its process has as many as one may have.
        case processIsFull(Int)
        /// The listener has.
        case listenerIsFull(Int)
    }

    private struct Entry {
        let ordinal: UInt64
        let process: ProcessID?
        let socket: ForeignSocket?
        var hasSession = false
        /// Since when it has none.
        var silentSince: Instant
    }

    private let limits: ConnectionLimits
    private var open: [Int32: Entry] = [:]
    private var ordinals: UInt64 = 0
    private var connectionsOf = Tally()
    private var sessionsOf = Tally()

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// The socket accepted a connection; `false` where there is no place for it: then it is not
    /// entered. Of a `process` that is not known only the listener's limit counts.
    mutating func accepted(
        _ descriptor: Int32, of process: ProcessID? = nil, _ socket: ForeignSocket? = nil,
        at now: Instant
    ) -> Bool {
        _ = ended(descriptor)
        guard open.count < limits.connectionsMax,
            connectionsOf[process] < limits.connectionsPerProcessMax
        else { return false }
        ordinals += 1
        open[descriptor] = Entry(
            ordinal: ordinals, process: process, socket: socket, silentSince: now)
        connectionsOf.add(process)
        return true
    }

    /// A connection ended; `nil` where it was never entered.
    mutating func ended(_ descriptor: Int32) -> Connection? {
        guard let entry = open.removeValue(forKey: descriptor) else { return nil }
        connectionsOf.remove(entry.process)
        if entry.hasSession { sessionsOf.remove(entry.process) }
        return Connection(descriptor: descriptor, ordinal: entry.ordinal)
    }

    /// The open connection of a descriptor; `nil` where it has closed by now.
    func current(_ descriptor: Int32) -> Connection? {
        open[descriptor].map { Connection(descriptor: descriptor, ordinal: $0.ordinal) }
    }

    /// The process at the other end of an open connection, where it is known.
    func process(of connection: Connection) -> ProcessID? { entry(connection)?.process }

    /// Open connections.
    var count: Int { open.count }

    /// Whether some have no session.
    var hasSilent: Bool { open.count > sessionsOf.count }

    /// A connection wants a session; where there is a place for it, it has one from now on.
    mutating func beginSession(_ connection: Connection) -> Refusal? {
        guard let entry = entry(connection), !entry.hasSession else { return nil }
        guard sessionsOf[entry.process] < limits.sessionsPerProcessMax else {
            return .processIsFull(limits.sessionsPerProcessMax)
        }
        guard sessionsOf.count < limits.sessionsMax else {
            return .listenerIsFull(limits.sessionsMax)
        }
        open[connection.descriptor]?.hasSession = true
        sessionsOf.add(entry.process)
        return nil
    }

    /// A session ended, and its connection may go on.
    mutating func endSession(_ connection: Connection, at now: Instant) {
        guard let entry = entry(connection), entry.hasSession else { return }
        open[connection.descriptor]?.hasSession = false
        open[connection.descriptor]?.silentSince = now
        sessionsOf.remove(entry.process)
    }

    /// The sockets of connections that have had no session for so long.
    func silent(for milliseconds: Int, at now: Instant) -> [ForeignSocket] {
        open.values.compactMap { entry in
            let isDue = now >= entry.silentSince.adding(milliseconds: milliseconds)
            return !entry.hasSession && isDue ? entry.socket : nil
        }
    }

    private func entry(_ connection: Connection) -> Entry? {
        open[connection.descriptor].flatMap { $0.ordinal == connection.ordinal ? $0 : nil }
    }
}

/// How many of something each process has; what belongs to none that is known counts in the sum.
private struct Tally {
    private(set) var count = 0
    private var byProcess: [ProcessID: Int] = [:]

    subscript(process: ProcessID?) -> Int { process.flatMap { byProcess[$0] } ?? 0 }

    mutating func add(_ process: ProcessID?) {
        count += 1
        if let process { byProcess[process, default: 0] += 1 }
    }

    mutating func remove(_ process: ProcessID?) {
        count -= 1
        guard let process, let known = byProcess[process] else { return }
        byProcess[process] = known > 1 ? known - 1 : nil
    }
}
