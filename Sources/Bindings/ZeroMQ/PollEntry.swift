import Glibc

/// What an entry waits for, or was found to be.
struct PollReadiness: Hashable {
    var isReadable = false
    var isWritable = false

    var isEmpty: Bool { !isReadable && !isWritable }

    /// Whether something is in both.
    func overlaps(_ other: PollReadiness) -> Bool {
        isReadable && other.isReadable || isWritable && other.isWritable
    }
}

/// One socket or descriptor of a `PollSet`.
struct PollEntry {
    /// What is watched.
    enum Source {
        case vacant
        case descriptor(Int32)
        /// With the descriptor that libzmq signals on: an edge, spent by any call on the socket.
        case socket(SocketHandle, descriptor: Int32)
    }

    let source: Source
    var interest = PollReadiness(isReadable: true)
    var found = PollReadiness()

    static var vacant: PollEntry { PollEntry(.vacant) }

    init(_ source: Source) { self.source = source }

    var isVacant: Bool { if case .vacant = source { true } else { false } }

    /// As poll(2) takes it, which passes over a negative descriptor. A muted descriptor would still
    /// report a hang-up: its number is hidden.
    var polled: pollfd {
        let hidden = pollfd(fd: -1, events: 0, revents: 0)
        guard !interest.isEmpty else { return hidden }
        switch source {
        case .vacant: return hidden
        case .socket(_, let number): return pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        case .descriptor(let number):
            let events =
                (interest.isReadable ? Int16(POLLIN) : 0)
                | (interest.isWritable ? Int16(POLLOUT) : 0)
            return pollfd(fd: number, events: events, revents: 0)
        }
    }

    /// What poll(2) says of a descriptor; an error is readable, since a read will tell it.
    mutating func find(_ events: Int16) {
        found = PollReadiness(
            isReadable: interest.isReadable && events & ~Int16(POLLOUT) != 0,
            isWritable: interest.isWritable && events & Int16(POLLOUT) != 0)
    }
}
