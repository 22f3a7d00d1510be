import Testing

@testable import ZeroMQ

@Suite struct SocketOptionsTests {
    @Test(arguments: [SocketKind.router, .dealer, .pair])
    func everyOptionIsReadBackAsItWasSet(kind: SocketKind) throws {
        var options = SocketOptions(frameBytesMax: 32_768)
        for changes in [false, true] {
            if changes {
                options.lingerMilliseconds = 250
                (options.sendQueueMax, options.receiveQueueMax) = (17, 19)
                options.handshakeMilliseconds = 31
            }
            let socket = try Socket(kind, in: try Context(), options)
            for (option, value) in options.numbers {
                #expect(try Socket.get(socket.pointer, option, Int32(-1)) == Int32(value))
            }
            let frameBytesMax: Int32 = 22
            #expect(try Socket.get(socket.pointer, frameBytesMax, Int64(0)) == 32_768)
        }
    }

    /// The socket doesn't linger, and queues nothing for an absent peer.
    @Test(arguments: [(17, 0), (39, 1)] as [(Int32, Int)])
    func theBusDefaultsHold(option: Int32, value: Int) {
        let options = SocketOptions(frameBytesMax: 1)
        #expect(options.numbers.contains { $0 == (option, value) })
    }

    @Test(arguments: [-5, Int(Int32.max) + 1])
    func anOptionOutOfRangeIsATypedError(value: Int) {
        var options = SocketOptions(frameBytesMax: 1)
        options.sendQueueMax = value
        #expect(throws: ZMQError.invalidArgument) {
            _ = try Socket(.dealer, in: try Context(), options)
        }
    }
}
