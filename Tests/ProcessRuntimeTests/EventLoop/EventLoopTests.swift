import Linux
import Model
import ProcessRuntime
import Testing
import ZeroMQ

@Suite struct EventLoopTests {
    @Test func theDeadlineEndsAWaitAndNeverEarly() throws {
        let event = try EventDescriptor()
        var loop = EventLoop(sourcesMax: 2)
        _ = loop.add(descriptor: event.descriptor.number)
        for milliseconds in [0, 1, 7] {
            let deadline = Instant.now().adding(milliseconds: milliseconds)
            let turn = try loop.wait(until: deadline)
            #expect(turn.wokenAt >= deadline)
            #expect(turn.ready.isEmpty)
        }
    }

    /// The alarm stays set for an abandoned deadline; later and earlier deadlines are met all the
    /// same.
    @Test func everyWaitHasItsOwnDeadline() throws {
        var loop = EventLoop(sourcesMax: 1)
        let event = try EventDescriptor()
        _ = loop.add(descriptor: event.descriptor.number)
        event.signal()
        let first = Instant.now().adding(milliseconds: 30)
        #expect(try !loop.wait(until: first).ready.isEmpty)
        event.drain()
        let later = first.adding(milliseconds: 30)
        let late = try loop.wait(until: later)
        #expect(late.wokenAt >= later && late.ready.isEmpty)
        event.signal()
        #expect(try !loop.wait(until: later.adding(milliseconds: 60_000)).ready.isEmpty)
        event.drain()
        let soon = Instant.now().adding(milliseconds: 20)
        let early = try loop.wait(until: soon)
        #expect(early.wokenAt >= soon && early.wokenAt < later.adding(milliseconds: 30_000))
        event.signal()
        #expect(try !loop.wait(until: nil).ready.isEmpty)
    }

    @Test func readySourcesAreNamedInTheOrderOfAdding() throws {
        let (first, second, third) = (
            try Mailbox<Int>(elementsMax: 1), try Mailbox<Int>(elementsMax: 1),
            try Mailbox<Int>(elementsMax: 1)
        )
        var loop = EventLoop(sourcesMax: EventLoop.sourcesMax)
        let sources = [first, second, third].map { $0.descriptor }.map { loop.add(descriptor: $0) }
        #expect(third.post(3) && first.post(1))
        let turn = try loop.wait(until: nil)
        #expect(sources.map { turn.ready.contains($0) } == [true, false, true])
        #expect(!turn.ready.contains(sources[1]))
    }

    @Test func aRemovedSourceIsSilentAndItsPlaceIsUsedAgain() throws {
        let mailbox = try Mailbox<Int>(elementsMax: 1)
        var loop = EventLoop(sourcesMax: 1)
        let source = loop.add(descriptor: mailbox.descriptor)
        #expect(mailbox.post(1))
        #expect(try loop.wait(until: nil).ready.contains(source))
        loop.remove(source)
        let other = try Mailbox<Int>(elementsMax: 1)
        let again = loop.add(descriptor: other.descriptor)
        #expect(try loop.wait(until: .now()).ready.isEmpty)
        #expect(again == source)
    }

    @Test func aPostFromAnotherThreadWakesTheLoop() throws {
        let mailbox = try Mailbox<String>(elementsMax: 1)
        var loop = EventLoop(sourcesMax: 1)
        let source = loop.add(descriptor: mailbox.descriptor)
        let thread = try Thread(name: "poster") { _ = mailbox.post("hello") }
        let turn = try loop.wait(until: Instant.now().adding(milliseconds: 10_000))
        #expect(turn.ready.contains(source))
        var taken: [String] = []
        mailbox.drain(into: &taken)
        #expect(taken == ["hello"])
        thread.join()
    }

    /// A server and its clients in one thread: sockets, monitor, timers and a budget together.
    @Test func aBudgetLeavesTheRestToTheNextTurn() throws {
        let context = try Context()
        let directory = try TemporaryDirectory()
        let endpoint = try Endpoint(path: directory.path + "/s")
        let options = SocketOptions(frameBytesMax: 100)
        let router = try Socket(.router, in: context, options)
        var monitor = try SocketMonitor(router, in: context)
        try router.bind(endpoint)
        let dealer = try Socket(.dealer, in: context, options)
        try dealer.connect(endpoint)
        var loop = EventLoop(sourcesMax: 4)
        let (bus, watch) = (loop.add(router), loop.add(monitor.socket))
        var reader = MessageReader(framesMax: 2)
        var (sent, received, largestTurn) = (0, 0, 0)
        var hasShakenHands = false
        let deadline = Instant.now().adding(milliseconds: 10_000)
        while received < 100 {
            let turn = try loop.wait(until: min(deadline, Instant.now().adding(milliseconds: 1)))
            try #require(turn.wokenAt < deadline)
            if turn.ready.contains(watch) {
                while let event = try monitor.next() {
                    if case .handshakeSucceeded = event { hasShakenHands = true }
                }
            }
            var inTurn = 0
            while turn.ready.contains(bus), inTurn < 8, try reader.receive(from: router) {
                inTurn += 1
            }
            received += inTurn
            largestTurn = max(largestTurn, inTurn)
            while sent < 100, try dealer.send([UInt8(sent)].span.bytes) == .sent { sent += 1 }
        }
        #expect(hasShakenHands)
        #expect(received == 100)
        #expect(largestTurn <= 8)
    }
}
