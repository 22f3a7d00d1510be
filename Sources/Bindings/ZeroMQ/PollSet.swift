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
    private let capacity: Int
    /// How many entries there are; an entry's index is its place in the order of adding.
    public private(set) var count = 0

    /// Makes a set for at most so many entries.
    public init(capacity: Int) {
        self.capacity = capacity
        items = .allocate(capacity: capacity)
        items.initialize(repeating: zmq_pollitem_t(), count: capacity)
    }

    deinit {
        items.deallocate()
    }

    /// Adds a socket for reading; it must live as long as it is in the set. Returns its index.
    ///
    /// A precondition: the set is not full.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket) -> Int {
        append(zmq_pollitem_t(socket: socket.pointer, fd: -1, events: Self.input, revents: 0))
    }

    /// Adds a descriptor for reading; it must stay open as long as it is in the set.
    ///
    /// A precondition: the set is not full.
    @discardableResult
    public mutating func add(descriptor number: Int32) -> Int {
        append(zmq_pollitem_t(socket: nil, fd: number, events: Self.input, revents: 0))
    }

    /// Removes an entry; those behind it move up by one.
    public mutating func remove(at index: Int) {
        check(index)
        for next in (index + 1)..<max(count, index + 1) { items[next - 1] = items[next] }
        count -= 1
    }

    /// Chooses what an entry waits for; an entry that waits for nothing stays, and reports nothing.
    public mutating func setInterest(at index: Int, readable: Bool, writable: Bool) {
        check(index)
        let reading = readable ? Self.input : 0
        items[index].events = reading | (writable ? Int16(ZMQ_POLLOUT) : 0)
    }

    /// Waits until an entry is ready; nil milliseconds waits without limit, 0 only looks.
    ///
    /// Throws `terminated` after a shutdown of the context, and EFAULT or EBADF for an entry that
    /// is no live socket or descriptor.
    public mutating func wait(milliseconds: Int?) throws(ZMQError) -> PollOutcome {
        switch czmq_poll(items, Int32(count), milliseconds.map { max($0, 0) } ?? -1) {
        case 0: return .timedOut
        case -EINTR: return .interrupted
        case let ready where ready > 0: return .ready(Int(ready))
        case let failure: throw ZMQError(rawValue: -failure)
        }
    }

    /// Whether the last wait found something to read, or an error that a read will tell.
    public func isReadable(at index: Int) -> Bool {
        check(index)
        return items[index].revents & (Self.input | Int16(ZMQ_POLLERR)) != 0
    }

    /// Whether the last wait found room to write.
    public func isWritable(at index: Int) -> Bool {
        check(index)
        return items[index].revents & Int16(ZMQ_POLLOUT) != 0
    }

    private static let input = Int16(ZMQ_POLLIN)

    private mutating func append(_ item: zmq_pollitem_t) -> Int {
        precondition(count < capacity, "the poll set is full")
        items[count] = item
        count += 1
        return count - 1
    }

    private func check(_ index: Int) {
        precondition(index >= 0 && index < count, "no such entry in the poll set")
    }
}
