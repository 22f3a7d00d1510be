import Model
import Testing
import Wire

/// Every kind of message arrives as it was sent.
@Suite struct RoundTripTests {
    /// Batches have tests of their own.
    @Test func everyKindIsSentInSomeDirection() {
        let sent = Set(Direction.all.flatMap(\.messages).map(\.kind))
        #expect(Set(MessageKind.allCases).subtracting(sent) == [.versions, .loads, .replies])
    }

    @Test(arguments: Direction.all)
    func everyMessageArrivesAsItWasSent(_ direction: Direction) throws {
        let log = FieldLog(seed: 0)
        for _ in 0..<150 {
            for message in direction.messages {
                let frames = try direction.frames(of: message, log)
                // Messages within the limits of each field can be too large as a whole.
                guard frames.body.count <= direction.limit else { continue }
                let arrived = try #require(try direction.pass(frames), "\(message.kind)")
                #expect(message.isReadInPart || arrived == frames, "\(message.kind)")
            }
        }
    }

    @Test func oneEncoderAndOneDecoderServeManyMessages() throws {
        let log = FieldLog(seed: 7)
        var encoder = MessageEncoder()
        var decoder = MessageDecoder()
        for _ in 0..<50 {
            for message in Direction.toClients.messages {
                let frames = try Direction.toClients.frames(of: message, log)
                guard frames.body.count <= Direction.toClients.limit else { continue }
                let received = try decoder.serverMessage(message.kind, frames.body.span.bytes)
                let encoded = try encoder.encode(received)
                #expect(encoded.byteCount == frames.body.count)
                #expect(encoder.packed() == frames.body)
            }
        }
    }

    @Test func aFailedEncodeLeavesTheEncoderUsable() throws {
        var encoder = MessageEncoder()
        #expect(throws: WireError.self) {
            try encoder.encode(
                .load(
                    LoadRequest(
                        token: Token(Identifier128(high: 1, low: 2)),
                        image: ImageRequest(url: String(repeating: "x", count: 9_000)))))
        }
        let encoded = try encoder.encode(WorkerMessage.credit(3))
        #expect(encoded.byteCount == 2)
        #expect(encoder.packed() == [0x08, 3])
    }

    @Test func aBodyIsPackedIntoASpanOfItsSize() throws {
        var encoder = MessageEncoder()
        let encoded = try encoder.encode(WorkerMessage.credit(300))
        var bytes = [UInt8](repeating: 0xEE, count: encoded.byteCount)
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        encoder.pack(into: &raw)
        #expect(bytes == [0x08, 0xAC, 0x02])
    }
}
