import ImageModel
import Messages
import Testing
import Wire

/// Bytes that nobody meant to send: whatever arrives is a message within the limits or a typed
/// error, and what was accepted can be sent on.
@Suite struct HostileBodyTests {
    /// Cuts, flips, overwrites or repeats some bytes.
    private func damaged(_ body: [UInt8], _ values: inout RandomValues) -> [UInt8] {
        guard !body.isEmpty else { return values.list(1...20) { $0.number() } }
        var bytes = body
        let place = Int.random(in: 0..<bytes.count, using: &values.source)
        switch Int.random(in: 0..<4, using: &values.source) {
        case 0: bytes.removeSubrange(place...)
        case 1:
            for _ in 0..<Int.random(in: 1...8, using: &values.source) {
                // Mostly near the start, where tags and lengths are.
                let bound = values.bool() ? min(bytes.count, 48) : bytes.count
                bytes[Int.random(in: 0..<bound, using: &values.source)] ^=
                    1
                    << UInt8.random(in: 0..<8, using: &values.source)
            }
        case 2: bytes[place] = values.number()
        default: bytes.insert(contentsOf: bytes[place...].prefix(64), at: place)
        }
        return bytes
    }

    private func accepted<Message: Equatable>(
        _ frames: Frames, _ read: (Frames) throws(WireError) -> Message,
        _ write: (Message) throws(WireError) -> Frames
    ) throws -> Bool {
        let message: Message
        do { message = try read(frames) } catch { return false }
        #expect(try read(try write(message)) == message)
        return true
    }

    /// 600 bodies of each of 33 shapes of message.
    @Test(arguments: 0..<4)
    func damagedBodiesAreMessagesOrTypedErrors(seed: Int) throws {
        var values = RandomValues(seed: UInt64(seed))
        var (tried, accepted) = (0, 0)
        func count(_ wasAccepted: Bool) {
            (tried, accepted) = (tried + 1, accepted + (wasAccepted ? 1 : 0))
        }
        for _ in 0..<10 {
            let worker = values.workerMessages().compactMap { try? Frames($0) }
            let commands = values.workerCommands().compactMap { try? Frames($0) }
            let client = values.clientMessages().compactMap { try? Frames($0) }
            let server = values.serverMessages().compactMap { try? Frames($0) }
            for _ in 0..<15 {
                for frames in worker {
                    let bad = Frames(header: frames.header, body: damaged(frames.body, &values))
                    count(
                        try self.accepted(
                            bad, { f throws(WireError) in try f.workerMessage() },
                            { m throws(WireError) in try Frames(m) }))
                }
                for frames in commands {
                    let bad = Frames(header: frames.header, body: damaged(frames.body, &values))
                    count(
                        try self.accepted(
                            bad, { f throws(WireError) in try f.workerCommand() },
                            { m throws(WireError) in try Frames(m) }))
                }
                for frames in client {
                    let bad = Frames(header: frames.header, body: damaged(frames.body, &values))
                    count(
                        try self.accepted(
                            bad, { f throws(WireError) in try f.clientMessage() },
                            { m throws(WireError) in try Frames(m) }))
                }
                for frames in server {
                    let bad = Frames(header: frames.header, body: damaged(frames.body, &values))
                    count(
                        try self.accepted(
                            bad, { f throws(WireError) in try f.serverMessage() },
                            { m throws(WireError) in try Frames(m) }))
                }
            }
        }
        #expect(tried > 4_000)
        #expect(accepted > tried / 20 && accepted < tried * 19 / 20, "\(accepted) of \(tried)")
    }

    @Test func noiseIsNoMessageOrAMessageWithinTheLimits() throws {
        var values = RandomValues(seed: 99)
        for _ in 0..<4_000 {
            let header = FrameHeader(kind: values.word()).bytes
            let frames = Frames(header: header, body: values.list(0...200) { $0.number() })
            _ = try accepted(
                frames, { f throws(WireError) in try f.workerMessage() },
                { m throws(WireError) in try Frames(m) })
            _ = try accepted(
                frames, { f throws(WireError) in try f.workerCommand() },
                { m throws(WireError) in try Frames(m) })
            _ = try accepted(
                frames, { f throws(WireError) in try f.clientMessage() },
                { m throws(WireError) in try Frames(m) })
            _ = try accepted(
                frames, { f throws(WireError) in try f.serverMessage() },
                { m throws(WireError) in try Frames(m) })
        }
    }

    @Test func everyPrefixOfALoadIsALoadOrATypedError() throws {
        var values = RandomValues(seed: 5)
        var request = ImageRequest(url: "https://example.com/a.jpg")
        request.steps = [
            .resize(PixelSize(width: 512, height: 512), .fit),
            .flip(horizontal: true, vertical: false),
        ]
        request.headers = [HTTPHeader(name: "Accept", value: "*/*")]
        let frames = try Frames(.load(LoadRequest(token: values.token(), image: request)))
        for count in 0..<frames.body.count {
            let cut = Frames(header: frames.header, body: Array(frames.body.prefix(count)))
            #expect(throws: WireError.self, "\(count)") { try cut.clientMessage() }
        }
    }
}
