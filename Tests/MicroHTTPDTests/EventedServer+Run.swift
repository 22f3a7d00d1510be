import Glibc
import Linux
import TestKit
import Testing

@testable import MicroHTTPD

/// A handler whose replies are set by the test, and which records its calls.
final class TestHandler: EventedHandler {
    var seen: [EventedExchange] = []
    var ends: [HTTPEnd] = []
    let answer: (EventedExchange) -> HTTPReply?
    var admit: ((EventedExchange) -> BodyAdmission)?

    init(_ answer: @escaping (EventedExchange) -> HTTPReply?) { self.answer = answer }

    func handle(_ exchange: EventedExchange) {
        seen.append(exchange)
        if let reply = answer(exchange) { exchange.answer(reply) }
    }

    func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        admit?(exchange) ?? .accept(bytesMax: exchange.method == "POST" ? .max : 0)
    }

    func ended(_ exchange: EventedExchange, _ end: HTTPEnd) { ends.append(end) }
}

/// An owner that only records its release.
final class MarkedOwner {
    let bytes: UnsafeMutableRawBufferPointer
    let gone: Recorder<Bool>

    init(_ bytes: [UInt8], _ gone: Recorder<Bool>) {
        self.bytes = UnsafeMutableRawBufferPointer(
            start: calloc(bytes.count, 1), count: bytes.count)
        self.bytes.copyBytes(from: bytes)
        self.gone = gone
    }

    /// Zeros that take no memory as long as they are only read.
    init(zeros count: Int, _ gone: Recorder<Bool>) {
        bytes = UnsafeMutableRawBufferPointer(start: calloc(count, 1), count: count)
        self.gone = gone
    }

    deinit {
        free(bytes.baseAddress)
        gone.append(true)
    }
}

extension EventedHTTPServer {
    /// A server on a socket of its own.
    init(
        address: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
        handler: any EventedHandler
    ) throws(HTTPListenError) {
        let socket: Int32
        do throws(Errno) {
            socket = try StreamListener(address: address, port: port).relinquish()
        } catch {
            throw HTTPListenError(errno: error.rawValue)
        }
        try self.init(listener: socket, limits: limits, handler: handler)
    }

    /// Runs the server on this thread until `isDone`.
    borrowing func run(until isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(90))
        while !isDone() {
            try #require(ContinuousClock.now < deadline, "nothing happens")
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, Int32(min(millisecondsUntilDue ?? 100, 100)))
            run()
        }
    }

    /// Runs the server until a call of the peer, which blocks another thread, has returned.
    borrowing func run<Value: Sendable>(
        _ peer: Peer, _ call: @escaping @Sendable (Peer) -> Value
    ) throws -> Value {
        let done = Recorder<Value>()
        let thread = BackgroundThread { done.append(call(peer)) }
        try run { !done.values.isEmpty }
        #expect(thread.join())
        return done.values[0]
    }
}

/// A client that may block. Unchecked: used by one thread at a time.
final class Peer: @unchecked Sendable {
    let client: RawClient

    init(_ client: consuming RawClient) { self.client = client }

    convenience init(_ server: borrowing EventedHTTPServer, sending text: String) throws {
        self.init(try RawClient(port: server.port))
        client.send(text)
    }
}

extension HTTPLimits {
    /// The default limits, apart from a change.
    static func with(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits()
        change(&limits)
        return limits
    }
}
