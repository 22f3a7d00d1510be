import Glibc
import Linux
import Testing
import ZeroMQ

@Suite struct MessageTests {
    private let pair: SocketPair

    init() throws { pair = try SocketPair() }

    @Test func framesTravelThereAndBack() throws {
        let dealer = try pair.dealer()
        #expect(try dealer.send(text: "header", more: true) == .sent)
        #expect(try dealer.send(text: "") == .sent)
        #expect(try pair.receive())
        #expect(pair.frames() == ["header", ""])
        #expect(!pair.isOverlong)
        let peer = try #require(pair.peer)
        #expect(try pair.router.send(to: peer) == .sent)
        let outcome = try pair.router.send(byteCount: 300) { buffer in
            for index in 0..<buffer.count { buffer[index] = UInt8(ascii: "z") }
        }
        #expect(outcome == .sent)
        #expect(try dealer.receiveText() == [String(repeating: "z", count: 300)])
    }

    @Test func theSpanOfAFrameIsItsBytes() throws {
        let dealer = try pair.dealer()
        var reader = MessageReader(framesMax: 2)
        #expect(try dealer.send(text: "span") == .sent)
        #expect(try pair.polls.wait(milliseconds: 10_000) == .ready(1))
        #expect(try reader.receive(from: pair.router) == true)
        let span = reader.bytes(at: 1)
        let (count, last) = (span.byteCount, span.unsafeLoad(fromByteOffset: 3, as: UInt8.self))
        #expect(count == 4)
        #expect(last == UInt8(ascii: "n"))
    }

    @Test func nothingToReceiveIsNoError() throws {
        #expect(try pair.reader.receive(from: pair.router) == false)
        #expect(pair.frames(from: 0).isEmpty)
        #expect(pair.peer == nil)
        #expect(pair.source == nil)
    }

    @Test func framesBeyondTheSlotsAreDroppedAndTheNextMessageIsWhole() throws {
        let dealer = try pair.dealer()
        for index in 0..<9 { #expect(try dealer.send(text: "\(index)", more: true) == .sent) }
        #expect(try dealer.send(text: "last") == .sent)
        #expect(try dealer.send(text: "next") == .sent)
        #expect(try pair.receive())
        #expect(pair.frames() == ["0", "1", "2"])
        #expect(pair.isOverlong)
        #expect(try pair.receive())
        #expect(pair.frames() == ["next"])
        #expect(!pair.isOverlong)
    }

    @Test func aMessageKnowsTheConnectionItCameThrough() throws {
        let dealer = try pair.dealer()
        #expect(try dealer.send(text: "hello") == .sent)
        #expect(try pair.receive())
        let descriptor = try #require(pair.source)
        let peer = try PeerCredentials(socket: descriptor)
        #expect(peer.processID == CurrentProcess.processID)
        #expect(peer.userID == CurrentProcess.userID)
    }

    @Test func aPeerThatIsNotThereIsUnreachable() throws {
        #expect(try pair.router.send(to: RoutingID(rawValue: 4_711)) == .hostUnreachable)
        // Nothing of the refused message is left over.
        let dealer = try pair.dealer()
        #expect(try dealer.send(text: "hello") == .sent)
        #expect(try pair.receive())
        let peer = try #require(pair.peer)
        #expect(try pair.router.send(to: peer) == .sent)
        #expect(try pair.router.send(text: "welcome") == .sent)
        #expect(try dealer.receiveText() == ["welcome"])
    }

    @Test func withoutAConnectionASendWouldBlock() throws {
        let nowhere = try Endpoint(parsing: "\(pair.endpoint)-nobody")
        let dealer = try Socket(.dealer, in: pair.context, SocketOptions(frameBytesMax: 10))
        try dealer.connect(nowhere)
        #expect(try dealer.send(Array("x".utf8).span.bytes) == .wouldBlock)
        #expect(try dealer.send(byteCount: 1) { $0[0] = 1 } == .wouldBlock)
    }

    @Test func aPeerThatDoesNotReadFillsItsQueueOnly() throws {
        var options = SocketOptions(frameBytesMax: 65_536)
        options.sendQueueMax = 10
        options.receiveQueueMax = 10
        let pair = try SocketPair(options)
        let lazy = try pair.dealer(options)
        let busy = try pair.dealer()
        #expect(try lazy.send(text: "lazy") == .sent)
        #expect(try pair.receive())
        let lazyID = try #require(pair.peer)
        #expect(try busy.send(text: "busy") == .sent)
        #expect(try pair.receive())
        let busyID = try #require(pair.peer)
        var sent = 0
        while try pair.router.send(to: lazyID) == .sent {
            // The decision is made at the routing id: all following frames are accepted.
            try #require(try pair.router.send(byteCount: 60_000) { _ in } == .sent)
            sent += 1
            try #require(sent < 10_000)
        }
        #expect(sent >= 10)
        #expect(try pair.router.send(to: busyID) == .sent)
        #expect(try pair.router.send(text: "still served") == .sent)
        #expect(try busy.receiveText() == ["still served"])
    }

    @Test func anOversizedFrameEndsTheConnection() throws {
        let pair = try SocketPair(SocketOptions(frameBytesMax: 1_000))
        let dealer = try Socket(.dealer, in: pair.context, SocketOptions(frameBytesMax: 1 << 20))
        var monitor = try SocketMonitor(dealer, in: pair.context)
        try dealer.connect(pair.endpoint)
        #expect(try dealer.send(text: String(repeating: "x", count: 1_001)) == .sent)
        #expect(try monitor.waitFor { if case .disconnected = $0 { true } else { false } })
        #expect(try pair.reader.receive(from: pair.router) == false)
    }

    @Test func aMissingDirectoryIsATypedErrorOfBind() throws {
        let context = try Context()
        let socket = try Socket(.router, in: context, SocketOptions(frameBytesMax: 1))
        let endpoint = try Endpoint(path: "/tmp/ib-not-there/s")
        let noEntry = ZMQError(rawValue: ENOENT)
        #expect(throws: noEntry) { try socket.bind(endpoint) }
        #expect(noEntry.description == "No such file or directory")
    }

    @Test func anIdentityThatAPeerChoseIsNoRoutingID() {
        let chosen: [UInt8] = [1, 2, 3, 4, 5]
        #expect(chosen.withUnsafeBytes { RoutingID($0) } == nil)
        let long: [UInt8] = [0, 2, 3, 4, 5, 6]
        #expect(long.withUnsafeBytes { RoutingID($0) } == nil)
        let given: [UInt8] = [0, 1, 0, 0, 0]
        #expect(given.withUnsafeBytes { RoutingID($0) } == RoutingID(rawValue: 1))
    }
}
