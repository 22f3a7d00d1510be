import Model
import Testing
import Wire

/// Corrupted bytes: whatever arrives decodes to a message within the limits or a typed error, and
/// an accepted message can be encoded again.
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

    /// 600 bodies of each kind of message.
    @Test(arguments: 0..<4)
    func damagedBodiesAreMessagesOrTypedErrors(seed: Int) throws {
        let log = FieldLog(seed: UInt64(seed))
        var (tried, accepted) = (0, 0)
        for _ in 0..<10 {
            for direction in Direction.all {
                for message in direction.messages {
                    let frames = try direction.frames(of: message, log)
                    for _ in 0..<15 {
                        let bad = Frames(
                            header: frames.header, body: damaged(frames.body, &log.values))
                        tried += 1
                        accepted += try direction.pass(bad) == nil ? 0 : 1
                    }
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
            for direction in Direction.all { _ = try direction.pass(frames) }
        }
    }

    @Test func everyPrefixOfALoadIsALoadOrATypedError() throws {
        var request = ImageRequest(url: "https://example.com/a.jpg")
        request.steps = [
            .resize(PixelSize(width: 512, height: 512), .fit),
            .flip(horizontal: true, vertical: false),
        ]
        request.headers = [HTTPHeader(name: "Accept", value: "*/*")]
        let token = Token(Identifier128(high: 1, low: 2))
        let frames = try Frames(.load(LoadRequest(token: token, image: request)))
        for count in 0..<frames.body.count {
            let cut = Frames(header: frames.header, body: Array(frames.body.prefix(count)))
            #expect(throws: WireError.self, "\(count)") { try cut.clientMessage() }
        }
    }
}
