import CZMQ
import Glibc

/// The result of a wait.
public enum PollOutcome: Hashable, Sendable {
    /// This many entries are ready.
    case ready(Int)
    /// The timeout has elapsed.
    case timedOut
    /// Interrupted by a signal; compute the remaining timeout and wait again.
    case interrupted
}

/// The sockets and descriptors watched by one wait: level-triggered, with two reused arrays.
///
/// `zmq_poll` queries every socket before and after each wait, with a system call each. This only
/// queries sockets that may have changed: those whose own descriptor is readable, and those used
/// since the last query (libzmq may have consumed the descriptor's event within that use).
public struct PollSet: ~Copyable {
    private let entries: UnsafeMutablePointer<PollEntry>
    private let polled: UnsafeMutablePointer<pollfd>
    /// The largest number of entries.
    public let capacity: Int
    /// All entries at or above this index have never been used.
    private var highWater = 0

    /// Creates a set with the given capacity.
    public init(capacity: Int) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: PollEntry(), count: capacity)
        polled = .allocate(capacity: capacity)
        polled.initialize(repeating: pollfd(fd: -1, events: 0, revents: 0), count: capacity)
    }

    deinit {
        entries.deinitialize(count: capacity)
        entries.deallocate()
        polled.deallocate()
    }

    /// Adds a socket for reading. It must live as long as it's in the set.
    ///
    /// Returns its index, which is stable until it's removed. Precondition: the set isn't full.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket) -> Int {
        socket.handle.invalidatePoll()
        return place(PollEntry(socket: socket.handle), socket.descriptor)
    }

    /// Adds a descriptor for reading. It must stay open as long as it's in the set.
    ///
    /// Returns its index, which is stable until it's removed. Precondition: the set isn't full.
    @discardableResult
    public mutating func add(descriptor number: Int32) -> Int {
        precondition(number >= 0, "a descriptor must not be negative")
        return place(PollEntry(), number)
    }

    /// Removes an entry. Its index may be reused for the next added entry.
    public mutating func remove(at index: Int) {
        checkBounds(index)
        precondition(!isVacant(index), "the poll set has no such entry")
        put(PollEntry(), -1, at: index)
    }

    /// Waits until an entry is ready. `nil` milliseconds waits without a timeout, 0 only polls.
    ///
    /// Throws `notSocket` for a closed socket. A closed descriptor counts as readable: reading it
    /// fails.
    public mutating func wait(milliseconds: Int?) throws(ZMQError) -> PollOutcome {
        precondition(highWater > 0, "a wait without entries would never end")
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
            // The event was internal to libzmq.
            guard let start, let whole = milliseconds else { continue }
            left = max(0, whole - (Self.milliseconds() - start))
        }
    }

    /// Whether the last wait found data to read, or an error that a read will report.
    public func isReadable(at index: Int) -> Bool {
        checkBounds(index)
        return entries[index].isReadable
    }

    // MARK: - Polling

    /// Queries the sockets that may be ready without their descriptors being readable.
    private func lookAtStirred() throws(ZMQError) -> Int {
        var ready = 0
        for index in 0..<highWater {
            entries[index].isReadable = false
            guard let socket = entries[index].socket, socket.mayBeReadable else { continue }
            try look(at: index, socket)
            if entries[index].isReadable { ready += 1 }
        }
        return ready
    }

    /// Evaluates the result of poll(2). Returns the number of ready entries, including those found
    /// before.
    private func lookAtPolled() throws(ZMQError) -> Int {
        var ready = 0
        for index in 0..<highWater {
            if polled[index].revents != 0 {
                if let socket = entries[index].socket {
                    try look(at: index, socket)
                } else {
                    // An error counts as readable, since a read will report it.
                    entries[index].isReadable = true
                }
            }
            if entries[index].isReadable { ready += 1 }
        }
        return ready
    }

    /// Queries one socket. A ready socket is queried again next time, since it may not be read
    /// completely.
    private func look(at index: Int, _ socket: SocketHandle) throws(ZMQError) {
        socket.mayBeReadable = try socket.isReadable()
        entries[index].isReadable = socket.mayBeReadable
    }

    private static func milliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    }

    // MARK: - Entries

    private mutating func place(_ entry: PollEntry, _ descriptor: Int32) -> Int {
        var index = 0
        while index < highWater, !isVacant(index) { index += 1 }
        precondition(index < capacity, "the poll set is full")
        put(entry, descriptor, at: index)
        highWater = max(highWater, index + 1)
        return index
    }

    private func put(_ entry: PollEntry, _ descriptor: Int32, at index: Int) {
        entries[index] = entry
        polled[index] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }

    /// poll(2) skips negative descriptors.
    private func isVacant(_ index: Int) -> Bool { polled[index].fd < 0 }

    private func checkBounds(_ index: Int) {
        precondition(index >= 0 && index < capacity, "the poll set has no such entry")
    }
}

/// One socket or descriptor of a `PollSet`.
struct PollEntry {
    /// The socket, with its own descriptor on which libzmq signals: edge-triggered, consumed by any
    /// use of the socket. `nil` for a plain descriptor.
    var socket: SocketHandle?
    /// Whether the last wait found something to read.
    var isReadable = false
}
