import Linux
import Model
import TestKit
import Testing

@testable import Coordinator

@Suite struct ConnectionLedgerTests {
    private let start = Instant(nanoseconds: 0)

    private var ledger = ConnectionLedger(
        ConnectionLimits(sessionsMax: 10, sessionsPerProcessMax: .max))

    /// A new connection, unless it is dropped.
    private mutating func connect(
        _ descriptor: Int32, of process: Int32? = nil, _ socket: ExternalSocket? = nil
    ) -> ConnectionLedger.Connection? {
        let isAccepted = ledger.accepted(descriptor, of: process, socket, at: start)
        #expect((ledger.current(descriptor) != nil) == isAccepted)
        return ledger.current(descriptor)
    }

    /// The sockets of connections that have had no session for five seconds, by milliseconds since
    /// the start.
    private func silent(at milliseconds: Int) -> [ExternalSocket] {
        ledger.silent(for: 5_000, at: start.adding(milliseconds: milliseconds))
    }

    @Test mutating func aReusedDescriptorIsAnotherConnection() throws {
        let first = try #require(connect(10))
        #expect(ledger.ended(10) == first)
        #expect(ledger.current(10) == nil, "a hello that is read now is of the dead")
        let second = try #require(connect(10))
        #expect(second.descriptor == first.descriptor && second != first)
    }

    @Test mutating func anEndIsToldOnce() {
        #expect(connect(10) != nil)
        #expect(ledger.ended(10) != nil)
        #expect(ledger.ended(10) == nil)
        #expect(ledger.ended(11) == nil)
    }

    /// A process at its session limit may still connect and is sent the reason for its refusal;
    /// further connections are dropped.
    @Test mutating func aProcessHasItsPlacesAndOthersHaveTheirs() throws {
        ledger = ConnectionLedger(ConnectionLimits(sessionsMax: 10, sessionsPerProcessMax: 2))
        let connections = (0..<5).compactMap { connect($0, of: 7) }
        #expect(connections.map(\.descriptor) == [0, 1, 2, 3])
        let refusals = connections.map { ledger.beginSession($0) }
        let full = ImageError.busy(
            "this process has reached the limit of 2 connections; share a connection")
        #expect(refusals == [nil, nil, full, full])
        for descriptor in 5..<9 as Range<Int32> {
            let connection = try #require(connect(descriptor), "of an unknown process")
            #expect(ledger.beginSession(connection) == nil)
        }
        #expect(connect(9, of: 8) != nil)
        // A freed slot is reused.
        _ = ledger.ended(0)
        #expect(ledger.beginSession(connections[2]) == nil)
        #expect(connect(0, of: 7) != nil)
    }

    @Test mutating func aListenerHasItsPlaces() {
        let limits = ConnectionLimits(sessionsMax: 2)
        ledger = ConnectionLedger(limits)
        let max = limits.connectionsMax
        let connections = (0...Int32(max)).compactMap { connect($0) }
        #expect(connections.map(\.descriptor) == Array(0..<Int32(max)))
        #expect(ledger.count == max)
        let refusals = connections.prefix(3).map { ledger.beginSession($0) }
        let full = ImageError.busy("the listener has reached the limit of 2 connections")
        #expect(refusals == [nil, nil, full])
        #expect(ledger.beginSession(connections[0]) == nil, "it has one")
        ledger.endSession(connections[0], at: start)
        #expect(ledger.beginSession(connections[2]) == nil)
    }

    @Test mutating func onlyConnectionsWithoutASessionAreSilent() throws {
        #expect(!ledger.hasSilent)
        let connection = try #require(connect(10))
        #expect(ledger.hasSilent)
        _ = ledger.beginSession(connection)
        #expect(!ledger.hasSilent)
        ledger.endSession(connection, at: start)
        #expect(ledger.hasSilent)
        _ = ledger.ended(10)
        #expect(!ledger.hasSilent)
    }

    /// A peer whose session ended may say hello again, as long as a new one may.
    @Test mutating func theTimeForAHelloBeginsWithTheConnectionAndAgainWithTheEndOfASession()
        throws
    {
        // Any socket of this process can stand for that of the connection.
        let folder = TestKit.TemporaryDirectory()
        let listener = try UnixListener(path: folder.file("s"), mode: 0o600)
        let socket = try ExternalSocket(number: listener.descriptor.number)
        let connection = try #require(connect(10, socket))
        #expect(silent(at: 4_999) == [])
        #expect(silent(at: 5_000) == [socket])
        #expect(ledger.beginSession(connection) == nil)
        #expect(silent(at: 60_000) == [], "it has a session")
        ledger.endSession(connection, at: start.adding(milliseconds: 60_000))
        #expect(silent(at: 64_999) == [])
        #expect(silent(at: 65_000) == [socket])
        // Without a session there is nothing to end.
        ledger.endSession(connection, at: start.adding(milliseconds: 64_000))
        #expect(silent(at: 65_000) == [socket])
    }

    /// With enough descriptors, the reserved ones always leave some for clients.
    @Test(arguments: [ConnectionLimits.descriptorsMin(), 20_000, 1 << 20])
    func allListenersTogetherHaveFewerPlacesThanThereAreDescriptors(_ descriptors: UInt64) {
        let places = Listener.all.map {
            ConnectionLimits($0, descriptors: descriptors, perProcess: 64).connectionsMax
                + ListenerSocket.unseenConnectionsMax
        }
        #expect(places.reduce(0, +) < Int(descriptors))
    }
}
