import CZMQ
import Glibc

/// What a wait ended with.
public enum PollOutcome: Hashable, Sendable {
    /// So many entries are ready.
    case ready(Int)
    /// The time is over.
    case timedOut
    /// A signal came in between; compute the timeout anew.
    case interrupted
}

/// Sockets and descriptors that one wait watches: level-triggered, two reused arrays.
///
/// `zmq_poll` asks every socket for its state before and after each wait, a system call each. This
/// asks only those that may have changed: whose own descriptor is readable, or on which something
/// was called since (libzmq may have read the news within that call).
public struct PollSet: ~Copyable {
    private let entries: UnsafeMutablePointer<PollEntry>
    private let polled: UnsafeMutablePointer<pollfd>
    /// How many entries it may have.
    public let capacity: Int
    /// Entries below this index are, or once were, in use.
    private var highWater = 0

    /// Makes a set for at most so many entries.
    public init(capacity: Int) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: .vacant, count: capacity)
        polled = .allocate(capacity: capacity)
        polled.initialize(repeating: pollfd(fd: -1, events: 0, revents: 0), count: capacity)
    }

    deinit {
        entries.deinitialize(count: capacity)
        entries.deallocate()
        polled.deallocate()
    }

    /// Adds a socket for reading; it must live as long as it is in the set.
    ///
    /// Returns its index, which stays the same until it is removed. A precondition: there is room.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket) -> Int {
        socket.handle.stir()
        return place(PollEntry(.socket(socket.handle, descriptor: socket.descriptor)))
    }

    /// Adds a descriptor for reading; it must stay open as long as it is in the set.
    ///
    /// Returns its index, which stays the same until it is removed. A precondition: there is room.
    @discardableResult
    public mutating func add(descriptor number: Int32) -> Int {
        precondition(number >= 0, "a descriptor is not negative")
        return place(PollEntry(.descriptor(number)))
    }

    /// Removes an entry; its index may be given to the next that is added.
    public mutating func remove(at index: Int) {
        check(index)
        put(.vacant, at: index)
    }

    /// Chooses what an entry waits for; one that waits for nothing stays, and reports nothing.
    public mutating func setInterest(at index: Int, readable: Bool, writable: Bool) {
        check(index)
        var entry = entries[index]
        entry.interest = PollReadiness(isReadable: readable, isWritable: writable)
        if case .socket(let handle, _) = entry.source { handle.stir() }
        put(entry, at: index)
    }

    /// Waits until an entry is ready; nil milliseconds waits without limit, 0 only looks.
    ///
    /// Throws `terminated` after a shutdown of the context, and `notSocket` for a socket that was
    /// closed. A descriptor that was closed is readable: its read tells.
    public mutating func wait(milliseconds: Int?) throws(ZMQError) -> PollOutcome {
        precondition(highWater > 0, "a wait for nothing would never end")
        var left = milliseconds.map { max($0, 0) }
        let start = left.map { _ in Self.milliseconds() }
        while true {
            let known = try lookAtStirred()
            let count = poll(
                polled, nfds_t(highWater), known > 0 ? 0 : Int32(clamping: left ?? -1))
            if count < 0, errno != EINTR { throw ZMQError(rawValue: errno) }
            if count < 0, known == 0 { return .interrupted }
            let ready = count > 0 ? try lookAtPolled() : known
            if ready > 0 { return .ready(ready) }
            if count == 0 { return .timedOut }
            // libzmq had something to do for itself.
            guard let start, let whole = milliseconds else { continue }
            left = max(0, whole - (Self.milliseconds() - start))
        }
    }

    /// Whether the last wait found something to read, or an error that a read will tell.
    public func isReadable(at index: Int) -> Bool {
        checkBounds(index)
        return entries[index].found.isReadable
    }

    /// Whether the last wait found room to write.
    public func isWritable(at index: Int) -> Bool {
        checkBounds(index)
        return entries[index].found.isWritable
    }

    // MARK: - Looking

    /// Asks the sockets that may be ready without their descriptors saying so.
    private func lookAtStirred() throws(ZMQError) -> Int {
        var ready = 0
        for index in 0..<highWater {
            entries[index].found = PollReadiness()
            guard case .socket(let handle, _) = entries[index].source,
                handle.unknown.overlaps(entries[index].interest)
            else { continue }
            if try look(at: index, handle) { ready += 1 }
        }
        return ready
    }

    /// Takes what poll(2) found; returns how many entries are ready, those found before too.
    private func lookAtPolled() throws(ZMQError) -> Int {
        var ready = 0
        for index in 0..<highWater {
            if polled[index].revents != 0 {
                switch entries[index].source {
                case .vacant: break
                case .descriptor: entries[index].find(polled[index].revents)
                case .socket(let handle, _): _ = try look(at: index, handle)
                }
            }
            if !entries[index].found.isEmpty { ready += 1 }
        }
        return ready
    }

    /// Asks one socket; whether it is ready. One that is will be asked again: it may not be read
    /// to its end.
    private func look(at index: Int, _ handle: SocketHandle) throws(ZMQError) -> Bool {
        let state = try handle.readiness()
        let interest = entries[index].interest
        entries[index].found = PollReadiness(
            isReadable: state.isReadable && interest.isReadable,
            isWritable: state.isWritable && interest.isWritable)
        handle.unknown = entries[index].found
        return !entries[index].found.isEmpty
    }

    private static func milliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    }

    // MARK: - Entries

    private mutating func place(_ entry: PollEntry) -> Int {
        var index = 0
        while index < highWater, !entries[index].isVacant { index += 1 }
        precondition(index < capacity, "the poll set is full")
        put(entry, at: index)
        highWater = max(highWater, index + 1)
        return index
    }

    private func put(_ entry: PollEntry, at index: Int) {
        entries[index] = entry
        polled[index] = entry.polled
    }

    private func check(_ index: Int) {
        checkBounds(index)
        precondition(!entries[index].isVacant, "no such entry in the poll set")
    }

    private func checkBounds(_ index: Int) {
        precondition(index >= 0 && index < capacity, "no such entry in the poll set")
    }
}

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
