import Linux
import Model
import TestKit
import Testing

@testable import Coordinator

@Suite struct ConnectionLedgerTests {
    private let start = Instant(nanoseconds: 0)

    private func ledger(sessions: Int = 10, perProcess: Int = .max) -> Held {
        Held(ConnectionLimits(sessionsMax: sessions, sessionsPerProcessMax: perProcess))
    }

    @Test func aReusedDescriptorIsAnotherConnection() throws {
        let ledger = ledger()
        #expect(ledger.accepted(10, at: start))
        let first = try #require(ledger.current(10))
        #expect(ledger.ended(10) == first)
        #expect(ledger.current(10) == nil, "a hello that is read now is of the dead")
        #expect(ledger.accepted(10, at: start))
        let second = try #require(ledger.current(10))
        #expect(second.descriptor == first.descriptor && second != first)
    }

    @Test func anEndIsToldOnce() {
        let ledger = ledger()
        #expect(ledger.accepted(10, at: start))
        #expect(ledger.ended(10) != nil)
        #expect(ledger.ended(10) == nil)
        #expect(ledger.ended(11) == nil)
    }

    /// A process at its session limit may still connect and is sent the reason for its refusal;
    /// further connections are dropped.
    @Test func aProcessHasItsPlacesAndOthersHaveTheirs() throws {
        let ledger = ledger(perProcess: 2)
        for descriptor in 0..<4 as Range<Int32> {
            #expect(ledger.accepted(descriptor, of: 7, at: start))
        }
        #expect(!ledger.accepted(4, of: 7, at: start))
        #expect(ledger.current(4) == nil)
        let connections = try (0..<4).map { try #require(ledger.current(Int32($0))) }
        let refusals = connections.map { ledger.beginSession($0) }
        let full = ImageError.busy(
            "this process has reached the limit of 2 connections; share a connection")
        #expect(refusals == [nil, nil, full, full])
        for descriptor in 5..<9 as Range<Int32> {
            #expect(ledger.accepted(descriptor, at: start), "of an unknown process")
            let connection = try #require(ledger.current(descriptor))
            #expect(ledger.beginSession(connection) == nil)
        }
        #expect(ledger.accepted(9, of: 8, at: start))
        // A freed slot is reused.
        _ = ledger.ended(0)
        #expect(ledger.beginSession(connections[2]) == nil)
        #expect(ledger.accepted(0, of: 7, at: start))
    }

    @Test func aListenerHasItsPlaces() throws {
        let ledger = ledger(sessions: 2)
        let max = Int32(ConnectionLimits(sessionsMax: 2).connectionsMax)
        for descriptor in 0..<max { #expect(ledger.accepted(descriptor, at: start)) }
        #expect(!ledger.accepted(max, at: start))
        #expect(ledger.count == Int(max))
        let connections = try (0..<3).map { try #require(ledger.current(Int32($0))) }
        let full = ImageError.busy("the listener has reached the limit of 2 connections")
        #expect(connections.map { ledger.beginSession($0) } == [nil, nil, full])
        #expect(ledger.beginSession(connections[0]) == nil, "it has one")
        ledger.endSession(connections[0], at: start)
        #expect(ledger.beginSession(connections[2]) == nil)
    }

    @Test func onlyConnectionsWithoutASessionAreSilent() throws {
        let ledger = ledger()
        #expect(!ledger.hasSilent)
        #expect(ledger.accepted(10, at: start))
        #expect(ledger.hasSilent)
        let connection = try #require(ledger.current(10))
        _ = ledger.beginSession(connection)
        #expect(!ledger.hasSilent)
        ledger.endSession(connection, at: start)
        #expect(ledger.hasSilent)
        _ = ledger.ended(10)
        #expect(!ledger.hasSilent)
    }

    /// A peer whose session ended may say hello again, as long as a new one may.
    @Test func theTimeForAHelloBeginsWithTheConnectionAndAgainWithTheEndOfASession() throws {
        let ledger = ledger()
        // Any socket of this process can stand for that of the connection.
        let folder = TestKit.TemporaryDirectory()
        let listener = try UnixListener(path: folder.file("s"), mode: 0o600)
        let socket = try ExternalSocket(number: listener.descriptor.number)
        #expect(ledger.accepted(10, socket, at: start))
        let connection = try #require(ledger.current(10))
        #expect(ledger.silent(at: 4_999) == [])
        #expect(ledger.silent(at: 5_000) == [socket])
        #expect(ledger.beginSession(connection) == nil)
        #expect(ledger.silent(at: 60_000) == [], "it has a session")
        ledger.endSession(connection, at: start.adding(milliseconds: 60_000))
        #expect(ledger.silent(at: 64_999) == [])
        #expect(ledger.silent(at: 65_000) == [socket])
        // Without a session there is nothing to end.
        ledger.endSession(connection, at: start.adding(milliseconds: 64_000))
        #expect(ledger.silent(at: 65_000) == [socket])
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

/// A class so that expectations can mutate the ledger.
private final class Held {
    private var ledger: ConnectionLedger

    init(_ limits: ConnectionLimits) { ledger = ConnectionLedger(limits) }

    var count: Int { ledger.count }
    var hasSilent: Bool { ledger.hasSilent }

    func accepted(
        _ descriptor: Int32, of process: Int32? = nil, _ socket: ExternalSocket? = nil,
        at now: Instant
    ) -> Bool {
        ledger.accepted(descriptor, of: process, socket, at: now)
    }

    func ended(_ descriptor: Int32) -> ConnectionLedger.Connection? { ledger.ended(descriptor) }

    func current(_ descriptor: Int32) -> ConnectionLedger.Connection? {
        ledger.current(descriptor)
    }

    func beginSession(_ connection: ConnectionLedger.Connection) -> ImageError? {
        ledger.beginSession(connection)
    }

    func endSession(_ connection: ConnectionLedger.Connection, at now: Instant) {
        ledger.endSession(connection, at: now)
    }

    /// The sockets of connections that have had no session for five seconds, by milliseconds since
    /// the start.
    func silent(at milliseconds: Int) -> [ExternalSocket] {
        let now = Instant(nanoseconds: 0).adding(milliseconds: milliseconds)
        return ledger.silent(for: 5_000, at: now)
    }
}
