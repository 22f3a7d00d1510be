import Caching
import Glibc
import Linux
import Model

/// The cache stage as in `imagebus-cache`, without its memory tier: jobs in, outcomes out.
final class StageSide: Side {
    private final class Wake: Sendable {
        let event: EventDescriptor
        init() throws { event = try EventDescriptor() }
    }

    /// The maximum number of concurrent stores.
    private static let storesMax = 16
    private static let ticksEvery: UInt64 = 1_000_000_000

    private let images: Images
    private let entries: Int
    private let stage: CacheStage
    private let space = BenchSpace()
    private let wake: Wake
    private var nextJob: UInt64 = 1
    private var stores = 0
    private var lastTick: UInt64 = 0
    private var answer: JobResult?
    /// The block read last.
    private var held: BlockReference?
    private var failure: String?
    /// The maximum disk usage reported while storing, in bytes.
    private(set) var mostBytes = 0

    init(_ directory: String, _ images: Images, entries: Int) throws {
        self.images = images
        self.entries = entries
        let wake = try Wake()
        self.wake = wake
        stage = try CacheStage(
            policy: Self.policy(DiskPolicy(countMax: entries)),
            directory: try CacheDirectory(path: directory), results: space, staging: space,
            source: BenchSource(images: images), now: Self.now()
        ) { wake.event.signal() }
    }

    private static func policy(_ disk: DiskPolicy) -> CachePolicy {
        CachePolicy(
            memoryBytesMax: 64 << 20, usesMemory: false, writesBehind: false, disk: disk)
    }

    func store(_ number: Int) throws {
        while stores >= Self.storesMax { try wait() }
        stores += 1
        begin(
            .store(
                StoreWork(
                    key: Images.key(number), source: BenchSource.reference(number, images),
                    tiers: .disk, delivers: false, waitsForDisk: true, metadata: Self.properties)))
        try tick()
    }

    func finishStores() throws { while stores > 0 { try wait() } }

    func hit(_ number: Int) throws -> Bool {
        try tick()
        answer = nil
        begin(
            .query(
                QueryWork(
                    key: Images.key(number), tiers: .disk, destination: .staging, promotes: false))
        )
        while answer == nil { try wait() }
        guard case .hit(let hit) = answer else { return false }
        held = hit.reference
        return true
    }

    func isRight(_ number: Int) -> Bool {
        guard let reference = held else { return false }
        held = nil
        defer { handle(stage.release([reference.block], now: Self.now())) }
        return images.areRight(space.bytes(reference), number)
    }

    /// The tier is full: one more store starts a trim.
    func beginTrim() throws {
        try store(entries)
        try finishStores()
    }

    func isTrimmed() -> Bool {
        (stage.statistics.disk?.usage?.entries ?? .max) <= entries / 2
    }

    /// Sets the byte limit to the current usage. Returns it.
    func limitToPresentBytes() throws -> Int {
        lastTick = 0
        try tick()
        while stage.statistics.disk?.usage == nil { try wait() }
        let bytes = stage.statistics.disk?.usage?.total ?? 0
        handle(stage.adopt(Self.policy(DiskPolicy(bytesMax: bytes)), named: [:], now: Self.now()))
        return bytes
    }

    func stop() { stage.stop() }

    private static let properties = StoredMetadata(
        info: ImageInfo(format: .jpeg, size: PixelSize(width: 512, height: 384), pages: 1))

    private static func now() -> UnixTime {
        UnixTime(milliseconds: WallClock.nanoseconds() / 1_000_000)
    }

    private func begin(_ work: JobWork) {
        let job = Job(
            id: JobID(nextJob), attempt: 1, work: work, millisecondsLeft: 60_000,
            priority: .normal)
        nextJob += 1
        handle(stage.perform(job, now: Self.now()))
    }

    private func tick() throws {
        let now = MonotonicClock.now()
        guard now > lastTick + Self.ticksEvery else { return }
        lastTick = now
        handle(stage.tick(now: Self.now()))
        if let failure { throw BenchFailure(failure) }
    }

    private func wait() throws {
        _ = try wake.event.descriptor.wait(for: .readable, milliseconds: 1_000)
        wake.event.drain()
        handle(stage.collect(now: Self.now()))
        mostBytes = max(mostBytes, stage.statistics.disk?.usage?.total ?? 0)
        try tick()
    }

    private func handle(_ actions: [CacheAction]) {
        for case .outcome(_, attempt: _, let result) in actions {
            if case .stored(let report) = result {
                stores -= 1
                if !report.tiers.contains(.disk) { failure = "a store went wrong: \(report)" }
            } else {
                if case .failed(let error) = result { failure = "\(error)" }
                answer = result
            }
        }
    }
}
