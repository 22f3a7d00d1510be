extension RealProcesses {
    /// The cache process is killed at arbitrary moments: while it stores, removes, evicts and
    /// starts.
    @Suite struct CacheKillTests {
        private static let lanes = 12

        /// Every entry whose store was acknowledged is on disk with its bytes, removed entries stay
        /// removed, and the directory contains no file that isn't in the index. With a limit on
        /// entries any of them may be evicted, but none may be wrong.
        @Test(arguments: [[], ["--disk-entries", "12"]])
        func whatTheDiskWasSaidToHaveItHas(limits: [String]) async throws {
            let kills = Effort.count("CACHE_KILLS", short: 25, long: 500)
            var random = Effort.generator("cache kills")
            let images = try StoredImages()
            let acknowledged = Recorder<Int>()
            try await withStack(["--allow-private-networks"] + limits) { stack in
                var lanes = try (0..<Self.lanes).map {
                    try StoreLane(stack, images, acknowledged, number: $0, seed: random.next())
                }
                var killer = CacheKiller(stack, acknowledged)
                while killer.killed < kills {
                    let isOver = Gate()
                    let running = Task { [lanes] in await StoreLane.run(lanes, until: isOver) }
                    try await killer.kill(&random)
                    isOver.open()
                    lanes = await running.value
                    for index in lanes.indices {
                        await lanes[index].check(isLimited: !limits.isEmpty)
                    }
                }
                let tally = lanes.reduce(into: StoreTally()) { $0 += $1.tally }
                print("cache kills: \(killer.killed); \(tally)")
                let report = try await stack.awaitStatus("the disk to be seen") { report in
                    report.caches.first?.disk == .healthy
                }
                #expect(report.caches[0].entriesLost == 0)
                #expect(report.caches[0].indexesSetAside == 0)
                let folder = CacheFolder(stack.cacheDirectory)
                try await folder.expectSwept()
                try stack.stop()
                try folder.expectSound()
            }
        }
    }
}

/// Kills the cache process, and sometimes the next one while it starts.
private struct CacheKiller {
    private(set) var killed = 0
    private let stack: StackHarness
    private let acknowledged: Recorder<Int>

    init(_ stack: StackHarness, _ acknowledged: Recorder<Int>) {
        (self.stack, self.acknowledged) = (stack, acknowledged)
    }

    /// At the moment when a store is acknowledged while others are in flight, or at any time.
    mutating func kill(_ random: inout SeededGenerator) async throws {
        if random.happens(70) {
            let count = Int.random(in: 1...24, using: &random)
            try await killOne { [acknowledged] in
                _ = await acknowledged.wait(count: acknowledged.values.count + count)
            }
        } else {
            try await killOne(after: Int.random(in: 0..<60_000, using: &random))
        }
        while random.happens(20) {
            try await killOne(after: Int.random(in: 0..<40_000, using: &random))
        }
    }

    private mutating func killOne(after microseconds: Int) async throws {
        // Random moments are intended here, so there is no event to wait for.
        try await killOne { try await Task.sleep(for: .microseconds(microseconds)) }
    }

    private mutating func killOne(at moment: () async throws -> Void) async throws {
        let cache = try await cache()
        try await moment()
        do {
            try cache.kill()
        } catch let error as Errno where error == .noSuchProcess {
            return
        }
        guard try cache.ends(within: defaultTimeout) else {
            throw StackFailure("the cache lives on after SIGKILL")
        }
        killed += 1
    }

    /// The running process, or the next one.
    private func cache() async throws -> ObservedProcess {
        var cache: ObservedProcess?
        try pollUntil("a process of the cache") {
            cache = stack.processes("cache").first
            return cache != nil
        }
        return try #require(cache)
    }
}

/// Images with different bytes, some of them small enough to be stored in the index.
private struct StoredImages: Sendable {
    let origin = OriginServer()
    private let all: [[UInt8]]

    init() throws {
        all = try (0..<20).map { number in
            let side = [20, 70, 80, 180, 400][number % 5]
            return try Images.noise(width: side, height: side, seed: UInt64(number)).png()
        }
    }

    /// The bytes of a version of the image at a path; consecutive versions differ.
    func bytes(_ version: Int) -> [UInt8] { all[version % all.count] }

    /// The version that has these bytes.
    func version(_ bytes: [UInt8]) -> Int? { all.firstIndex(of: bytes) }

    /// Sets the version that the origin sends from now on.
    func offer(_ path: String, _ version: Int) {
        origin.route(path, .bytes(bytes(version), contentType: "image/png"))
    }

    var count: Int { all.count }
}

/// Counts of operations and results.
private struct StoreTally: CustomStringConvertible {
    var stored = 0
    var unknown = 0
    var removed = 0
    var found = 0
    var trimmed = 0

    static func += (left: inout Self, right: Self) {
        left.stored += right.stored
        left.unknown += right.unknown
        left.removed += right.removed
        left.found += right.found
        left.trimmed += right.trimmed
    }

    var description: String {
        "\(stored) stores and \(removed) removals acknowledged, \(unknown) calls without an "
            + "answer, \(found) found afterwards, \(trimmed) not"
    }
}

/// Stores and removes entries under its own keys one after another, and knows which entries must
/// exist and which may exist.
private struct StoreLane: Sendable {
    private struct Known: Sendable {
        /// The versions that may be stored.
        var versions: Set<Int> = []
        /// Whether there may be no entry.
        var mayBeAbsent = true
    }

    private let client: ImagebusClient
    private let admin: OperatorClient
    private let images: StoredImages
    private let acknowledged: Recorder<Int>
    private let paths: [String]
    private var known: [Known]
    private var next: Int
    private var random: SeededGenerator
    private(set) var tally = StoreTally()

    init(
        _ stack: StackHarness, _ images: StoredImages, _ acknowledged: Recorder<Int>, number: Int,
        seed: UInt64
    ) throws {
        self.acknowledged = acknowledged
        client = try stack.client()
        admin = try stack.operatorClient()
        self.images = images
        paths = (0..<4).map { "/\(number)-\($0).png" }
        known = paths.map { _ in Known() }
        next = number
        random = SeededGenerator(seed: seed)
    }

    static func run(_ lanes: [StoreLane], until isOver: Gate) async -> [StoreLane] {
        await withTaskGroup(of: (Int, StoreLane).self) { group in
            for (index, lane) in lanes.enumerated() {
                group.addTask {
                    var lane = lane
                    while !isOver.isOpen { await lane.step() }
                    return (index, lane)
                }
            }
            return await group.reduce(into: lanes) { $0[$1.0] = $1.1 }
        }
    }

    private mutating func step() async {
        let place = Int.random(in: paths.indices, using: &random)
        if random.happens(20) {
            await remove(place)
        } else {
            await store(place)
        }
        if random.happens(5) { _ = try? await admin.trim(.disk) }
    }

    private mutating func store(_ place: Int) async {
        next = (next + 1) % images.count
        if known[place].versions.contains(next) { next = (next + 1) % images.count }
        images.offer(paths[place], next)
        known[place].versions.insert(next)
        var request = ImageRequest(url: images.origin.url(paths[place]))
        request.options = [.fromLoaderOnly, .waitStoreCache]
        guard let response = try? await client.load(request).response,
            response.storedTiers?.contains(.disk) == true
        else {
            // It may have removed the older entry as well.
            known[place].mayBeAbsent = true
            tally.unknown += 1
            return
        }
        known[place] = Known(versions: [next], mayBeAbsent: false)
        acknowledged.append(next)
        tally.stored += 1
    }

    private mutating func remove(_ place: Int) async {
        known[place].mayBeAbsent = true
        guard (try? await admin.remove(images.origin.url(paths[place]))) != nil else {
            tally.unknown += 1
            return
        }
        known[place].versions = []
        tally.removed += 1
    }

    /// Checks every key on disk; from then on the state found is the expected state.
    mutating func check(isLimited: Bool) async {
        for place in paths.indices {
            let key = images.origin.url(paths[place])
            let bytes: [UInt8]?
            do {
                bytes = try await admin.entry(key, in: .disk)?.bytes?.array
            } catch {
                Issue.record("\(key): \(error)")
                continue
            }
            note(bytes, at: place, isLimited)
        }
    }

    private mutating func note(_ bytes: [UInt8]?, at place: Int, _ isLimited: Bool) {
        let before = known[place]
        guard let bytes else {
            #expect(before.mayBeAbsent || isLimited, "\(paths[place]) was stored and is missing")
            known[place] = Known()
            tally.trimmed += 1
            return
        }
        let version = images.version(bytes)
        #expect(
            version.map { before.versions.contains($0) } == true,
            "\(paths[place]) has \(version ?? -1), expected: \(before.versions)")
        known[place] = Known(versions: version.map { [$0] } ?? [], mayBeAbsent: false)
        tally.found += 1
    }
}
