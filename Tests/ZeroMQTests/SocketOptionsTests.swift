import Testing
import ZeroMQ

@Suite struct SocketOptionsTests {
    @Test(arguments: [SocketKind.router, .dealer, .pair])
    func everyOptionIsReadBackAsItWasSet(kind: SocketKind) throws {
        var options = SocketOptions(frameBytesMax: 32_768)
        options.lingerMilliseconds = 250
        options.sendQueueMax = 17
        options.receiveQueueMax = 19
        options.isImmediate = false
        options.reconnectMilliseconds = 23
        options.reconnectMillisecondsMax = 29
        options.handshakeMilliseconds = 31
        options.backlog = 37
        let socket = try Socket(kind, in: try Context(), options)
        #expect(try socket.currentOptions() == options)
    }

    @Test func theBusDefaultsHold() throws {
        let options = SocketOptions(frameBytesMax: 98_304)
        let socket = try Socket(.dealer, in: try Context(), options)
        let held = try socket.currentOptions()
        #expect(held == options)
        #expect(held.lingerMilliseconds == 0)
        #expect(held.isImmediate)
        #expect(held.frameBytesMax == 98_304)
    }

    @Test func anOptionOutOfRangeIsATypedError() throws {
        var options = SocketOptions(frameBytesMax: 1)
        options.sendQueueMax = -5
        #expect(throws: ZMQError.invalidArgument) {
            _ = try Socket(.dealer, in: try Context(), options)
        }
        options.sendQueueMax = Int(Int32.max) + 1
        #expect(throws: ZMQError.invalidArgument) {
            _ = try Socket(.dealer, in: try Context(), options)
        }
    }

    @Test func aContextRefusesMoreSocketsThanAllowed() throws {
        let context = try Context(socketsMax: 1)
        let first = try Socket(.pair, in: context, SocketOptions(frameBytesMax: 1))
        #expect(throws: ZMQError.tooManySockets) {
            _ = try Socket(.pair, in: context, SocketOptions(frameBytesMax: 1))
        }
        #expect(first.kind == .pair)
    }
}
