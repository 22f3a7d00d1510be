import Glibc
import Linux
import ZeroMQ

/// A ROUTER and a DEALER on a Unix socket of their own, with whole messages as text.
///
/// A class, so that a test's closures may use it.
final class SocketPair {
    let context: Context
    let directory: TemporaryDirectory?
    let endpoint: Endpoint
    let router: Socket
    var reader = MessageReader(framesMax: 4)
    var polls = PollSet(capacity: 4)

    /// In a directory of its own, unless the test has one already.
    init(
        _ options: SocketOptions = SocketOptions(frameBytesMax: 65_536), path: String? = nil
    ) throws {
        if let path {
            directory = nil
            endpoint = try Endpoint(path: path)
        } else {
            let created = try TemporaryDirectory()
            endpoint = try Endpoint(path: created.path + "/s")
            directory = consume created
        }
        context = try Context()
        router = try Socket(.router, in: context, options)
        try router.bind(endpoint)
        polls.add(router)
    }

    func dealer(
        _ options: SocketOptions = SocketOptions(frameBytesMax: 65_536)
    ) throws -> Socket {
        let socket = try Socket(.dealer, in: context, options)
        try socket.connect(endpoint)
        return socket
    }

    /// Waits for the next message of the router; false after ten seconds.
    func receive() throws -> Bool {
        for _ in 0..<100 {
            if try reader.receive(from: router) { return true }
            if try polls.wait(milliseconds: 10_000) == .timedOut { return false }
        }
        return false
    }

    /// Whether a message is already available; reads it.
    func receiveNow() throws -> Bool { try reader.receive(from: router) }

    // Values of the reader, since `#expect` takes no noncopyable operand.
    var peer: RoutingID? { reader.routingID }
    var source: Int32? { reader.sourceDescriptor }
    var isOverlong: Bool { reader.isOverlong }

    /// The frames of the last message from `first` on, as text.
    func frames(from first: Int = 1) -> [String] {
        (first..<reader.count).map { reader.text(at: $0) }
    }
}

extension MessageReader {
    fileprivate func text(at index: Int) -> String {
        bytes(at: index).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension Socket {
    /// Sends text; waits up to ten seconds for a connection.
    func send(text: String, more: Bool = false) throws -> SendOutcome {
        let end = MonotonicClock.now() + 10_000_000_000
        var outcome = try send(text.utf8Span.span.bytes, more: more)
        while outcome == .wouldBlock, MonotonicClock.now() < end {
            usleep(1_000)
            outcome = try send(text.utf8Span.span.bytes, more: more)
        }
        return outcome
    }

    /// Waits up to ten seconds for the next message, and returns its frames as text.
    func receiveText() throws -> [String]? {
        var polls = PollSet(capacity: 1)
        var reader = MessageReader(framesMax: 4)
        polls.add(self)
        _ = try polls.wait(milliseconds: 10_000)
        guard try reader.receive(from: self) else { return nil }
        return (0..<reader.count).map { reader.text(at: $0) }
    }
}
