extension RealProcesses {
    /// Whatever a client sends, operators get replies, and other clients get their hits.
    @Suite struct OperatorLatencyTests {
        /// The guarantee for release builds on an otherwise idle machine.
        private static let promised = Duration.milliseconds(250)
        /// Debug builds take five to ten times as long, and other processes share the processors;
        /// ten times the measured values is less than this.
        private static let limit = promised * 10
        /// A delay that can be a single turn on a slow machine.
        private static let brief = promised * 4

        /// The name of an attack, and what it does.
        struct Attack: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let run: @Sendable (Attacker) throws -> Void
        }

        private static let attacks = [
            Attack(testDescription: "announced uploads") {
                try $0.announceUploads(Effort.count("UPLOADS", short: 100, long: 5_000))
            },
            Attack(testDescription: "a group of 4,000 changes its class") {
                try $0.reprioritize(
                    Effort.count("CHANGES", short: 300, long: 20_000), loads: 4_000)
            },
            Attack(testDescription: "a walk") {
                try $0.walk(Effort.count("WALK", short: 5_000, long: 200_000))
            },
        ]

        @Test(arguments: attacks)
        func noClientKeepsAnOperatorWaiting(_ attack: Attack) async throws {
            let gate = Gate()
            let source = try Images.quadrants().jpeg(quality: 85)
            let origin = OriginServer("/hit.jpg", .bytes(source))
            origin.route("/never.jpg", .hangBody(until: gate, then: source))
            let random = Effort.generator(attack.testDescription)
            try await withStack { stack in
                let before = Set(stack.children.map(\.processID))
                let hit = ImageRequest(origin.url("/hit.jpg"), fit: 100)
                let client = try stack.client()
                _ = try await client.load(hit).response
                let attacker = Sending(
                    try Attacker(stack, origin: origin.url("/never.jpg"), random))
                let end = Monitor<Result<Int, any Error>?>(nil)
                let thread = BackgroundThread {
                    let result = Result {
                        try attack.run(attacker.value)
                        try attacker.value.settle()
                        return attacker.value.sentCount
                    }
                    end.withLock { $0 = result }
                }
                let operators = try stack.operatorClient()
                async let statuses = Waits(until: end) { _ = try await operators.status() }
                async let hits = Waits(until: end) {
                    let image = try await client.load(hit).response
                    #expect(image.cacheType == .memory)
                }
                let (status, others) = try await (statuses, hits)
                #expect(thread.join())
                let sentCount = try #require(end.withLock { $0 }).get()
                print(
                    "\(attack.testDescription): \(sentCount) messages; status \(status); hits of"
                        + " another client \(others)")
                #expect(status.longest < Self.limit, "the guarantee is \(Self.promised)")
                let share = max(Self.brief, status.total / 4)
                #expect(status.longest < share, "answered during the attack")
                #expect(Set(stack.children.map(\.processID)) == before, "no process was killed")
                gate.open()
            }
        }
    }
}

/// The durations of consecutive requests until another operation had ended.
struct Waits: CustomStringConvertible {
    private var all: [Duration] = []

    var longest: Duration { all.last ?? .zero }
    var total: Duration { all.reduce(.zero, +) }
    var description: String {
        "\(all.count) times, p50 \(rank(50)), p99 \(rank(99)), longest \(longest)"
    }

    private func rank(_ percent: Int) -> Duration {
        all.isEmpty ? .zero : all[min(all.count - 1, all.count * percent / 100)]
    }

    /// Makes at least one request.
    init(
        until end: Monitor<Result<Int, any Error>?>, _ ask: @Sendable () async throws -> Void
    ) async throws {
        repeat {
            let began = ContinuousClock.now
            try await ask()
            all.append(began.duration(to: .now))
        } while end.withLock { $0 == nil }
        all.sort()
    }
}

/// Sendable: one thread creates the value, then another one uses it.
struct Sending<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
