import ProcessRuntime

/// Loads on one connection, most of them canceled around their completion; every terminal reply on
/// the wire is counted.
final class CancelRace {
    /// The source of a load's image.
    enum Way: CaseIterable {
        case memory, disk, cold, shared
    }

    /// The results of the race.
    struct Score {
        var right = 0
        var cancelled = 0
        var stale = 0
        /// Descriptions of unexpected messages.
        var wrong: [String] = []
    }

    private struct Flight {
        let choice: Gallery.Choice
        let way: Way
        let began: Instant
        let group: GroupID
        var cancelAt: Instant?
        var cancelsGroup = false
    }

    private let client: WireClient
    private let gallery: Gallery
    private let results: ResultReader
    private var random: SeededGenerator
    private var flights: [Token: Flight] = [:]
    private var ended: Set<Token> = []
    /// The typical duration of a load per source, as observed so far, in nanoseconds.
    private var usual: [Way: UInt64] = [.memory: 300_000, .disk: 2_000_000]
    private var group = GroupID(.random)
    private(set) var score = Score()
    private(set) var sent = 0

    static let width = 64

    init(_ stack: StackHarness, _ gallery: Gallery, _ random: SeededGenerator) throws {
        client = try WireClient(stack)
        results = ResultReader(resultsDirectory: "\(stack.runtimeDirectory)/results")
        (self.gallery, self.random) = (gallery, random)
    }

    /// Sends `count` loads, `width` of them in flight, and returns when each has had its terminal
    /// reply.
    func run(_ count: Int) throws {
        var lastEnd = Instant.now()
        while sent < count || !flights.isEmpty {
            while sent < count, flights.count < Self.width { try begin() }
            let before = flights.count
            try cancelDue()
            try drain()
            if flights.count < before { lastEnd = .now() }
            guard Instant.now().milliseconds(since: lastEnd) < defaultTimeout.milliseconds else {
                throw StackFailure("\(flights.count) loads have no terminal")
            }
        }
    }

    /// Reads what arrives after the last terminal reply; none of it may concern a load. The reply
    /// to a status request comes after everything sent before.
    func expectSilence() throws {
        try client.send(.status)
        let deadline = Instant.now().adding(milliseconds: defaultTimeout.milliseconds)
        while Instant.now() < deadline {
            guard let message = try client.receive(within: .milliseconds(100)) else { continue }
            if case .status = message { return }
            try receive(message)
        }
        throw StackFailure("the status was not answered")
    }

    private func begin() throws {
        let way = nextWay()
        guard let choice = Gallery.choices.randomElement(using: &random) else { return }
        var request = gallery.request(choice, variant(way))
        if way == .disk { request.queryCacheTypes = .disk }
        if sent % 4 == 0 { group = GroupID(.random) }
        let token = Token(.random)
        let began = Instant.now()
        var flight = Flight(choice: choice, way: way, began: began, group: group)
        if random.happens(85) {
            let span = Double(usual[way] ?? 20_000_000) * Double.random(in: 0...1.5, using: &random)
            flight.cancelAt = Instant(nanoseconds: began.nanoseconds + UInt64(span))
            flight.cancelsGroup = random.happens(25)
        }
        flights[token] = flight
        sent += 1
        try client.send(.load(LoadRequest(token: token, group: group, image: request)))
    }

    private func nextWay() -> Way {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<45: .memory
        case ..<65: .disk
        case ..<85: .shared
        default: .cold
        }
    }

    /// Hits have few URLs, cold loads one each; sixteen consecutive shared loads have the same.
    private func variant(_ way: Way) -> String {
        switch way {
        case .memory: "hit"
        case .disk: "stored"
        case .shared: "shared\(sent / 16)"
        case .cold: "own\(sent)"
        }
    }

    private func cancelDue() throws {
        let now = Instant.now()
        for (token, flight) in flights {
            guard let due = flight.cancelAt, due <= now else { continue }
            flights[token]?.cancelAt = nil
            try client.send(flight.cancelsGroup ? .cancelGroup(flight.group) : .cancel(token))
        }
    }

    private func drain() throws {
        let nextCancel = flights.values.compactMap(\.cancelAt).min()
        let left = nextCancel.map { $0.milliseconds(since: .now()) } ?? 20
        // Waits have a resolution of a millisecond; shorter ones are done by polling.
        var message = try client.receive(within: .milliseconds(left > 2 ? left - 2 : 0))
        while let next = message {
            try receive(next)
            message = try client.receive()
        }
    }

    private func receive(_ message: ServerMessage) throws {
        guard case .reply(let reply) = message else {
            return score.wrong.append("\(message)")
        }
        guard let flight = flights.removeValue(forKey: reply.token) else {
            let isSecond = ended.contains(reply.token)
            return score.wrong.append("\(isSecond ? "a second" : "a stranger's") \(reply.outcome)")
        }
        ended.insert(reply.token)
        let span = Instant.now().nanoseconds - flight.began.nanoseconds
        switch reply.outcome {
        case .image(let image):
            usual[flight.way] = (usual[flight.way] ?? span) / 8 * 7 + span / 8
            try check(image, flight)
        case .failure(let error) where error.code == .cancelled: score.cancelled += 1
        case .miss, .failure, .notModified: score.wrong.append("\(flight.way): \(reply.outcome)")
        }
    }

    private func check(_ image: DeliveredImage, _ flight: Flight) throws {
        guard let reference = image.reference else {
            return score.wrong.append("an image without bytes")
        }
        guard let bytes = try results.copy(reference, at: 0, count: Int(reference.length)) else {
            score.stale += 1
            return
        }
        if gallery.isRight(bytes, flight.choice) {
            score.right += 1
        } else {
            score.wrong.append("\(flight.way): wrong pixels of \(flight.choice)")
        }
    }
}
