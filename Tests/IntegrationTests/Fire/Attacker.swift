/// A client that sends valid messages as fast as the coordinator accepts them, and reads its
/// replies.
final class Attacker {
    private let wire: WireClient
    private var random: SeededGenerator
    private let origin: String
    private var tokens: [Token] = []
    private let groups = (0..<3).map { _ in GroupID(.random) }
    /// The number of messages sent.
    private(set) var sentCount = 0

    /// `origin` serves images that never arrive, so loads of them wait.
    init(_ stack: StackHarness, origin: String, _ random: SeededGenerator) throws {
        wire = try WireClient(stack)
        (self.origin, self.random) = (origin, random)
    }

    // MARK: - Attacks

    /// Announces uploads that never arrive.
    func announceUploads(_ count: Int) throws {
        for _ in 0..<count {
            let token = Token(.random)
            try send(
                .load(LoadRequest(token: token, image: .uploaded, uploadBytes: 64 << 20)))
            try send(.cancel(token))
        }
    }

    /// Changes the priority of a large group of loads repeatedly.
    func reprioritize(_ count: Int, loads: Int) throws {
        let group = groups[0]
        for number in 0..<loads {
            let image = ImageRequest(url: "\(origin)?\(number)")
            try send(.load(LoadRequest(token: Token(.random), group: group, image: image)))
        }
        for number in 0..<count {
            try send(.reprioritizeGroup(group, number % 2 == 0 ? .high : .low))
        }
        try send(.cancelGroup(group))
    }

    /// Loads one image `count` times; all of the loads wait for its origin.
    func waitForOneImage(_ count: Int) throws {
        var image = ImageRequest(origin, fit: 64)
        image.options = .fromLoaderOnly
        for _ in 0..<count { try send(.load(LoadRequest(token: Token(.random), image: image))) }
    }

    /// Returns after `count` replies with an image; throws if there is another reply.
    func receiveReplies(_ count: Int) throws {
        var left = count
        while left > 0 {
            guard let message = try wire.receive(within: .seconds(60)) else {
                throw StackFailure("\(left) replies did not come")
            }
            guard case .reply(let reply) = message else { continue }
            guard case .image = reply.outcome else { throw StackFailure("\(reply.outcome)") }
            left -= 1
        }
    }

    /// Sends valid messages in random order.
    func walk(_ count: Int) throws {
        for _ in 0..<count { try send(message()) }
        for group in groups { try send(.cancelGroup(group)) }
    }

    /// Returns once all messages have been handled.
    func settle() throws {
        try send(.status)
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while ContinuousClock.now < deadline {
            if case .status = try wire.receive(within: .milliseconds(500)) { return }
        }
        throw StackFailure("the status did not come")
    }

    // MARK: - Messages

    /// Sends a message once there is space in the queue, and reads replies meanwhile.
    private func send(_ message: ClientMessage) throws {
        sentCount += 1
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while ContinuousClock.now < deadline {
            while try wire.receive() != nil {}
            if (try? wire.send(message)) != nil { return }
            _ = try wire.receive(within: .milliseconds(10))
        }
        throw StackFailure("the coordinator takes nothing")
    }

    private func message() -> ClientMessage {
        let group = pick(groups)
        switch random.next() % 20 {
        case 0: return .cancelGroup(group)
        case 1, 2: return .reprioritizeGroup(group, pick(Priority.allCases))
        case 3: return .reprioritize(token(), pick(Priority.allCases))
        case 4, 5: return .cancel(token())
        case 6: return .release([BlockID(random.next() | 1)])
        case 7: return .load(upload())
        case 8: return .chunk(Chunk(token: token(), offset: 0, total: 64 << 20, bytes: [1, 2]))
        case 9: return .prefetch(prefetch())
        default: return .load(load(in: group))
        }
    }

    private func load(in group: GroupID) -> LoadRequest {
        var image = ImageRequest("\(origin)?\(random.next() % 500)", fit: 64)
        image.priority = pick(Priority.allCases)
        let isShared = random.happens(30)
        if isShared { image.url = origin }
        return LoadRequest(
            token: newToken(), group: group, image: image,
            wantsChunks: random.happens(20), slot: random.happens(10) ? "slot" : nil)
    }

    private func upload() -> LoadRequest {
        LoadRequest(
            token: newToken(), image: .uploaded, uploadBytes: random.next() % (64 << 20) + 1)
    }

    private func prefetch() -> PrefetchRequest {
        let urls = (0..<100).map { "\(origin)?\(random.next() % 500)\($0)" }
        return PrefetchRequest(
            batch: newToken(), image: ImageRequest(url: ""), urls: urls, concurrency: 64)
    }

    private func newToken() -> Token {
        let token = Token(.random)
        if tokens.count < 256 {
            tokens.append(token)
        } else {
            tokens[Int(random.next() % 256)] = token
        }
        return token
    }

    private func token() -> Token { tokens.randomElement(using: &random) ?? newToken() }

    private func pick<Value>(_ values: [Value]) -> Value {
        values[Int(random.next() % UInt64(values.count))]
    }
}
