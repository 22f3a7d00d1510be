import Linux

/// The end of a client's line, for those who wait for it.
final class LineEnd: Sendable {
    private let event: EventDescriptor

    init() throws(Errno) { event = try EventDescriptor() }

    /// The sockets are closed, and what was to be sent has gone.
    func come() { event.signal() }

    func wait(milliseconds: Int) {
        // Who cannot wait goes on.
        _ = try? event.descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}
