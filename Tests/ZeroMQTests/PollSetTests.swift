import Linux
import Testing

@testable import ZeroMQ

@Suite struct PollSetTests {
    private let pair: SocketPair

    init() throws { pair = try SocketPair() }

    @Test func socketsAndDescriptorsAreWatchedTogether() throws {
        let event = try EventDescriptor()
        let index = pair.polls.add(descriptor: event.descriptor.number)
        #expect(try pair.polls.wait(milliseconds: 0) == .timedOut)
        event.signal()
        #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
        #expect(pair.polls.isReadable(at: index) == true)
        #expect(pair.polls.isReadable(at: 0) == false)
        let dealer = try pair.dealer()
        #expect(try dealer.send(text: "x") == .sent)
        event.drain()
        #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
        #expect(pair.polls.isReadable(at: 0) == true)
        #expect(pair.polls.isReadable(at: index) == false)
    }

    @Test func whatWasNotReadIsFoundAgain() throws {
        let dealer = try pair.dealer()
        for index in 0..<3 { #expect(try dealer.send(text: "\(index)") == .sent) }
        for index in 0..<3 {
            #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
            #expect(try pair.receive())
            #expect(pair.frames() == ["\(index)"])
        }
    }

    /// A socket that was drained isn't polled again until its descriptor becomes readable.
    @Test func whatComesAfterTheLastMessageWasReadIsFound() throws {
        let dealer = try pair.dealer()
        for round in 0..<3 {
            #expect(try dealer.send(text: "\(round)") == .sent)
            #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
            #expect(try pair.receive())
            #expect(try !pair.receiveNow())
            #expect(!pair.router.handle.mayBeReadable)
            #expect(try pair.polls.wait(milliseconds: 0) == .timedOut)
        }
        // A message noticed by a later call is picked up.
        #expect(try pair.router.send(to: RoutingID(rawValue: 4_711)) == .hostUnreachable)
        #expect(pair.router.handle.mayBeReadable)
    }

    @Test func aRemovedEntryIsNotReportedAndItsPlaceIsUsedAgain() throws {
        let first = try EventDescriptor()
        let second = try EventDescriptor()
        var polls = PollSet(capacity: 2)
        let a = polls.add(descriptor: first.descriptor.number)
        let b = polls.add(descriptor: second.descriptor.number)
        first.signal()
        second.signal()
        polls.remove(at: a)
        #expect(try polls.wait(milliseconds: 0) == .ready(1))
        #expect(polls.isReadable(at: b) == true)
        #expect(polls.isReadable(at: a) == false)
        #expect(polls.add(descriptor: first.descriptor.number) == a)
        #expect(try polls.wait(milliseconds: 0) == .ready(2))
    }

    @Test func anEntryThatHangsUpIsReadable() throws {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        var polls = PollSet(capacity: 1)
        polls.add(descriptor: reading.number)
        #expect(try polls.wait(milliseconds: 0) == .timedOut)
        try writing.close()
        #expect(try polls.wait(milliseconds: 0) == .ready(1))
        #expect(polls.isReadable(at: 0) == true)
    }

    /// libzmq consumes its own signal in any call: afterwards the descriptor isn't readable,
    /// although a message waits.
    @Test func aMessageThatACallNoticedIsFound() throws {
        let dealer = try pair.dealer()
        #expect(try pair.polls.wait(milliseconds: 0) == .timedOut)
        #expect(try dealer.send(text: "x") == .sent)
        var edge = PollSet(capacity: 1)
        edge.add(descriptor: pair.router.descriptor)
        while try edge.wait(milliseconds: 10_000) == .ready(1) {
            // Until all of libzmq's internal signals are consumed.
            if try pair.router.handle.isReadable() { break }
        }
        #expect(try pair.router.send(to: RoutingID(rawValue: 4_711)) == .hostUnreachable)
        #expect(try edge.wait(milliseconds: 0) == .timedOut, "the edge is spent")
        #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
    }

    @Test func aClosedSocketIsNoSocket() throws {
        var polls = PollSet(capacity: 1)
        do {
            let dealer = try pair.dealer()
            polls.add(dealer)
        }
        #expect(throws: ZMQError.notSocket) { try polls.wait(milliseconds: 0) }
    }
}
