import ImageModel
import Messages
import Testing
import Wire

/// What was sent is what arrives, for every kind of message.
@Suite struct RoundTripTests {
    private static let seeds = (0 as UInt64)..<150

    /// A message that is within the limits field by field can still be too large as a whole.
    private func fits<Message>(_ message: Message, _ frames: (Message) throws -> Frames) throws
        -> Frames?
    {
        do {
            return try frames(message)
        } catch WireError.tooLarge {
            return nil
        }
    }

    @Test func everyWorkerMessageArrivesAsItWasSent() throws {
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            for message in values.workerMessages() {
                guard let frames = try fits(message, { try Frames($0) }) else { continue }
                #expect(try frames.workerMessage() == message, "seed \(seed)")
            }
        }
    }

    @Test func everyCommandToAWorkerArrivesAsItWasSent() throws {
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            for command in values.workerCommands() {
                guard let frames = try fits(command, { try Frames($0) }) else { continue }
                #expect(try frames.workerCommand() == command, "seed \(seed)")
            }
        }
    }

    @Test func everyClientMessageArrivesAsItWasSent() throws {
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            for message in values.clientMessages() {
                #expect(try Frames(message).clientMessage() == message, "seed \(seed)")
            }
        }
    }

    @Test func everyMessageToAClientArrivesAsItWasSent() throws {
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            for message in values.serverMessages() {
                #expect(try Frames(message).serverMessage() == message, "seed \(seed)")
            }
        }
    }

    @Test func oneEncoderAndOneDecoderServeManyMessages() throws {
        var values = RandomValues(seed: 7)
        var encoder = MessageEncoder()
        var decoder = MessageDecoder()
        for _ in 0..<50 {
            for message in values.serverMessages() {
                let encoded = try encoder.encode(message)
                let body = encoder.packed()
                #expect(body.count == encoded.byteCount)
                let received = try decoder.serverMessage(encoded.header.kind, body.span.bytes)
                #expect(received == message)
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
