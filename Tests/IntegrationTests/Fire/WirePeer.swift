import ProcessRuntime
import Wire
import ZeroMQ

/// The connecting side of the bus, controlled by a test, which can send arbitrary messages.
/// Confined to one thread.
final class WirePeer {
    private let context: Context
    private var connection: BusConnection
    private var loop = EventLoop(sourcesMax: 2)
    /// Whether the connection is established.
    private(set) var isUp = false

    /// Connects to the socket at `path` and waits for the handshake.
    init(_ path: String, frameBytesMax: Int = 1 << 20) throws {
        context = try Context()
        connection = try BusConnection(
            to: try Endpoint(path: path), in: context, frameBytesMax: frameBytesMax)
        _ = loop.add(connection.monitor.socket)
        _ = loop.add(connection.socket)
        let deadline = Instant.now().adding(milliseconds: defaultTimeout.milliseconds)
        while !isUp {
            guard Instant.now() < deadline else { throw StackFailure("no handshake at \(path)") }
            _ = try loop.wait(until: deadline)
            try drainMonitor()
        }
    }

    /// Sends one message with arbitrary frames.
    func send(_ frames: [[UInt8]]) throws {
        for (index, frame) in frames.enumerated() {
            let outcome = try connection.socket.send(
                frame.span.bytes, more: index + 1 < frames.count)
            guard outcome == .sent else { throw StackFailure("a frame cannot be sent") }
        }
    }

    /// The frames of the next message; nil if none arrives within `limit`.
    func receive(within limit: Duration = .zero) throws -> [[UInt8]]? {
        let deadline = Instant.now().adding(milliseconds: limit.milliseconds)
        while true {
            try drainMonitor()
            if try connection.receive() {
                return Self.frames(of: connection)
            }
            guard Instant.now() < deadline else { return nil }
            _ = try loop.wait(until: deadline)
        }
    }

    /// Waits for the other side to close the connection. Returns false if it doesn't within
    /// `limit`.
    func isClosed(within limit: Duration = defaultTimeout) throws -> Bool {
        let deadline = Instant.now().adding(milliseconds: limit.milliseconds)
        while isUp, Instant.now() < deadline {
            _ = try loop.wait(until: deadline)
            try drainMonitor()
            _ = try connection.receive()
        }
        return !isUp
    }

    private static func frames(of connection: borrowing BusConnection) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        for index in 0..<connection.frameCount {
            frames.append(connection.frame(index).withUnsafeBytes { Array($0) })
        }
        return frames
    }

    private func drainMonitor() throws {
        while let event = try connection.nextLinkEvent() { isUp = event == .up }
    }
}
