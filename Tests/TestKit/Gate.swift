/// A gate that is closed until the test opens it and stays open from then on.
///
/// It is a pipe that is never read, so the origin server can poll it together with a socket.
public final class Gate: Sendable {
    private let pipe = Pipe()

    /// Readable once the gate is open.
    var descriptor: Int32 { pipe.readEnd }

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate for all current and later waiters. Any thread, any number of times.
    public func open() {
        pipe.put(1)
    }

    /// Whether the gate has been opened.
    public var isOpen: Bool {
        Poll.wait([.readable(descriptor)], timeout: .zero) == 0
    }

    /// Blocks until the gate is open. Returns false on timeout.
    public func wait(timeout: Duration = defaultTimeout) -> Bool {
        Poll.wait([.readable(descriptor)], timeout: timeout) == 0
    }

    /// The same for async tests.
    public func wait(timeout: Duration = defaultTimeout) async -> Bool {
        await BackgroundThread.value { self.wait(timeout: timeout) }
    }
}
