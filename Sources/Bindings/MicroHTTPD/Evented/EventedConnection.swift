internal import CMicroHTTPD

/// Of a clock that only goes on.
typealias Milliseconds = Int64

/// A connection of an evented server. libmicrohttpd carries it from its first packet to its end.
final class EventedConnection {
    let pointer: OpaquePointer
    let peer: PeerAddress
    /// By when it has to get on, whatever trickles in or out meanwhile: the library's own limit
    /// begins anew with every byte. `nil`: it may take as long as it likes.
    fileprivate(set) var deadline: (awaited: Awaited, instant: Milliseconds)?
    /// Whether its peer has closed its side: nothing more comes of it.
    var hasLeft = false
    /// Whether a head is being read of which the first line is there.
    var readsHead = false
    /// The exchange that waits for its answer.
    var waiting: EventedExchange?
    /// Bytes that its peer had taken when its time for the answer began; `nil`: it has to
    /// take all of it.
    var takenBefore: Int64?

    /// What is awaited of its peer.
    enum Awaited { case request, answer }

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        peer = cmicrohttpd_peer(pointer).map { PeerAddress($0) } ?? .unix
    }

    /// Bytes that its peer has taken; `nil` where the system does not say it.
    var takenBytes: Int64? {
        let count = cmicrohttpd_taken(cmicrohttpd_socket(pointer))
        return count < 0 ? nil : count
    }
}

/// Whose time is over, of many connections.
struct ConnectionDeadlines {
    /// No deadline lies before it; it may lie before all of them.
    private var earliest: Milliseconds?

    /// In place of what was set before.
    mutating func set(
        _ connection: EventedConnection, _ awaited: EventedConnection.Awaited,
        at instant: Milliseconds
    ) {
        connection.deadline = (awaited, instant)
        if let earliest, earliest <= instant { return }
        earliest = instant
    }

    /// It may take as long as it likes.
    func clear(_ connection: EventedConnection) { connection.deadline = nil }

    /// Those whose time is over, and what was awaited of them; they have no deadline afterwards.
    /// Looks at all of them no more often than one may be due.
    mutating func takeOverdue(
        among connections: some Collection<EventedConnection>, at now: Milliseconds
    ) -> [(connection: EventedConnection, awaited: EventedConnection.Awaited)] {
        guard let earliest, earliest <= now else { return [] }
        let overdue = connections.compactMap { connection in
            connection.deadline.flatMap { $0.instant <= now ? (connection, $0.awaited) : nil }
        }
        for (connection, _) in overdue { connection.deadline = nil }
        self.earliest = connections.compactMap { $0.deadline?.instant }.min()
        return overdue
    }

    /// After how long there may be one; `nil`: never.
    func millisecondsUntilNext(from now: Milliseconds) -> Int? {
        earliest.map { Int(max(0, $0 - now)) }
    }
}
