internal import CMicroHTTPD
import Glibc

/// Holds bodies back until it is opened, once and for all who wait at it.
public final class BodyGate: Sendable {
    /// Readable once the gate is open; -1 where no descriptor was left: such a gate is open.
    private let event: Int32

    /// A closed gate.
    public init() { event = cmicrohttpd_gate() }

    deinit { if event >= 0 { close(event) } }

    /// Lets all bodies go on that wait here, now and later.
    public func open() { cmicrohttpd_open(event) }

    /// Waits until the gate is open; false when the peer at `socket` has left before.
    func wait(orUntilClosed socket: Int32) -> Bool {
        event < 0 || cmicrohttpd_wait(event, socket) == 1
    }
}
