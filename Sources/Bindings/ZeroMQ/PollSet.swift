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

/// Sockets and descriptors that one wait watches (`zmq_poll`): level-triggered, one reused array.
public struct PollSet: ~Copyable {
    private let items: UnsafeMutablePointer<zmq_pollitem_t>
    /// How many entries it may have.
    public let capacity: Int
    /// Entries below this index are, or once were, in use.
    private var highWater = 0

    /// Makes a set for at most so many entries.
    public init(capacity: Int) {
        self.capacity = capacity
        items = .allocate(capacity: capacity)
        items.initialize(repeating: Self.vacant, count: capacity)
    }

    deinit {
        items.deallocate()
    }

    /// Adds a socket for reading; it must live as long as it is in the set.
    ///
    /// Returns its index, which stays the same until it is removed. A precondition: there is room.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket) -> Int {
        place(zmq_pollitem_t(socket: socket.pointer, fd: -1, events: Self.input, revents: 0))
    }

    /// Adds a descriptor for reading; it must stay open as long as it is in the set.
    ///
    /// Returns its index, which stays the same until it is removed. A precondition: there is room.
    @discardableResult
    public mutating func add(descriptor number: Int32) -> Int {
        precondition(number >= 0, "a descriptor is not negative")
        return place(zmq_pollitem_t(socket: nil, fd: number, events: Self.input, revents: 0))
    }

    /// Removes an entry; its index may be given to the next that is added.
    public mutating func remove(at index: Int) {
        check(index)
        items[index] = Self.vacant
    }

    /// Chooses what an entry waits for; one that waits for nothing stays, and reports nothing.
    public mutating func setInterest(at index: Int, readable: Bool, writable: Bool) {
        check(index)
        items[index].events = (readable ? Self.input : 0) | (writable ? Self.output : 0)
        guard items[index].socket == nil else { return }
        // A muted descriptor would still report a hang-up: hide its number from poll(2).
        let isShown = items[index].fd >= 0
        if isShown != (readable || writable) { items[index].fd = -2 - items[index].fd }
    }

    /// Waits until an entry is ready; nil milliseconds waits without limit, 0 only looks.
    ///
    /// Throws `terminated` after a shutdown of the context, and `notSocket` for a socket that was
    /// closed. A descriptor that was closed is readable: its read tells.
    public mutating func wait(milliseconds: Int?) throws(ZMQError) -> PollOutcome {
        precondition(highWater > 0, "a wait for nothing would never end")
        switch czmq_poll(items, Int32(highWater), milliseconds.map { max($0, 0) } ?? -1) {
        case 0: return .timedOut
        case -EINTR: return .interrupted
        case let ready where ready > 0: return .ready(Int(ready))
        case let failure: throw ZMQError(rawValue: -failure)
        }
    }

    /// Whether the last wait found something to read, or an error that a read will tell.
    public func isReadable(at index: Int) -> Bool {
        checkBounds(index)
        return items[index].revents & (Self.input | Int16(ZMQ_POLLERR)) != 0
    }

    /// Whether the last wait found room to write.
    public func isWritable(at index: Int) -> Bool {
        checkBounds(index)
        return items[index].revents & Self.output != 0
    }

    private static let input = Int16(ZMQ_POLLIN)
    private static let output = Int16(ZMQ_POLLOUT)
    /// poll(2) passes over a negative descriptor.
    private static var vacant: zmq_pollitem_t {
        zmq_pollitem_t(socket: nil, fd: -1, events: 0, revents: 0)
    }

    private func isVacant(_ index: Int) -> Bool {
        items[index].socket == nil && items[index].fd == -1
    }

    private mutating func place(_ item: zmq_pollitem_t) -> Int {
        var index = 0
        while index < highWater, !isVacant(index) { index += 1 }
        precondition(index < capacity, "the poll set is full")
        items[index] = item
        highWater = max(highWater, index + 1)
        return index
    }

    private func check(_ index: Int) {
        checkBounds(index)
        precondition(!isVacant(index), "no such entry in the poll set")
    }

    private func checkBounds(_ index: Int) {
        precondition(index >= 0 && index < capacity, "no such entry in the poll set")
    }
}
