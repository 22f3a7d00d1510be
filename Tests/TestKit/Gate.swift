/// A listener that is shut until the test opens it, and stays open from then on.
///
/// It is a pipe that is never read, so the origin server can poll it beside a socket.
public final class Gate: Sendable {
    private let pipe = Pipe()

    /// Readable once the gate is open.
    var descriptor: Int32 { pipe.readEnd }

    /// A shut gate.
    public init() {}

    /// Lets through all who wait, and all who come later. Any thread, any number of times.
    public func open() {
        pipe.put(1)
    }

    /// True once the gate was opened.
    public var isOpen: Bool {
        Poll.wait([.readable(descriptor)], timeout: .zero) == 0
    }

    /// Blocks until the gate is open; false where `timeout` passes first.
    public func wait(timeout: Duration = defaultTimeout) -> Bool {
        Poll.wait([.readable(descriptor)], timeout: timeout) == 0
    }

    /// The same for async tests.
    public func wait(timeout: Duration = defaultTimeout) async -> Bool {
        await BackgroundThread.value { self.wait(timeout: timeout) }
    }
}
