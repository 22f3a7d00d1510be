import Linux
import Model
import Synchronization
import TestKit
import Testing

@testable import Caching

/// An arena on the heap, limited in bytes, that tracks which blocks are live and which are
/// readable.
final class TestSpace: ResultSpace {
    private struct State: ~Copyable {
        var live: [BlockID: Int] = [:]
        var published: Set<BlockID> = []
        var retired: Set<BlockID> = []
        var next: UInt64 = 1
    }

    // Unchecked: the pointers refer to memory that lives as long as the space.
    private struct Bytes: @unchecked Sendable { let memory: UnsafeMutableRawBufferPointer }

    private let state = Mutex(State())
    private let memories = Mutex<[BlockID: Bytes]>([:])
    private let bytesMax: Int
    /// Gates at which reservations wait, so that a test can block the reserving thread.
    private let gates = Mutex<[(gate: Gate, arrival: Gate)]>([])

    init(bytesMax: Int = 1 << 30) { self.bytesMax = bytesMax }

    deinit { memories.withLock { $0.values.forEach { $0.memory.deallocate() } } }

    var liveBlocks: Int { state.withLock { $0.live.count } }

    func isRetired(_ id: BlockID) -> Bool { state.withLock { $0.retired.contains(id) } }

    /// Blocks reservations from now on until `gate` is open. The returned gate opens when the first
    /// reservation waits.
    func close(with gate: Gate) -> Gate {
        let arrival = Gate()
        gates.withLock { $0 = [(gate, arrival)] }
        return arrival
    }

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        for (gate, arrival) in gates.withLock({ $0 }) {
            arrival.open()
            #expect(gate.wait(timeout: .seconds(60)))
        }
        let max = bytesMax
        let id: BlockID? = state.withLock { state in
            guard state.live.values.reduce(0, +) + bytes <= max else { return nil }
            let id = BlockID(state.next)
            state.next += 1
            state.live[id] = bytes
            return id
        }
        guard let id else { throw ImageError(.arenaFull, "the test's arena is full") }
        let memory = Bytes(memory: .allocate(byteCount: bytes, alignment: 64))
        memories.withLock { $0[id] = memory }
        return OutputBlock(id: id, arena: .results, segment: 1, offset: 64, bytes: memory.memory)
    }

    func resize(
        _ block: OutputBlock, to bytes: Int, keeping: Int
    ) throws(ImageError) -> OutputBlock { try reserve(bytes) }

    func discard(_ block: OutputBlock) {
        state.withLock { state in
            #expect(state.live.removeValue(forKey: block.id) != nil, "freed once")
        }
    }

    func publish(_ block: OutputBlock) {
        state.withLock { state in
            #expect(state.published.insert(block.id).inserted, "published once")
        }
    }

    func retire(_ id: BlockID) {
        state.withLock { state in
            #expect(state.live.removeValue(forKey: id) != nil, "freed once")
            state.retired.insert(id)
        }
    }

    /// The bytes as a reader sees them; `nil` for a block that is free or not published.
    func read(_ reference: BlockReference, published: Bool = true) -> [UInt8]? {
        let isReadable = state.withLock { state in
            state.live[reference.block] != nil
                && state.published.contains(reference.block) == published
        }
        guard isReadable else { return nil }
        return memories.withLock { memories in
            memories[reference.block].map { Array($0.memory.prefix(Int(reference.length))) }
        }
    }
}

/// Payloads of other processes.
final class TestSource: PayloadSource {
    private let payloads = Mutex<[BlockID: [UInt8]]>([:])
    /// Gates at which copies wait.
    private let gates = Mutex<[(gate: Gate, arrival: Gate)]>([])

    /// Blocks copies from now on until `gate` is open. The returned gate opens when the first copy
    /// waits.
    @discardableResult
    func close(with gate: Gate) -> Gate {
        let arrival = Gate()
        gates.withLock { $0 = [(gate, arrival)] }
        return arrival
    }

    /// Stores bytes for a job to refer to.
    func put(_ bytes: [UInt8]) -> BlockReference {
        payloads.withLock { payloads in
            let id = BlockID(UInt64(payloads.count + 1))
            payloads[id] = bytes
            return BlockReference(
                segment: 1, offset: 64, length: UInt64(bytes.count), block: id)
        }
    }

    func check(_ reference: BlockReference) throws(ImageError) {
        guard payloads.withLock({ $0[reference.block] }) != nil else {
            throw ImageError(.stale, "segment 1 is gone")
        }
    }

    func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        for (gate, arrival) in gates.withLock({ $0 }) {
            arrival.open()
            #expect(gate.wait(timeout: .seconds(60)))
        }
        guard let bytes = payloads.withLock({ $0[reference.block] }) else {
            throw ImageError(.stale, "segment 1 is gone")
        }
        target.copyBytes(from: bytes)
    }
}

/// A cache stage with its surroundings, driven by hand.
final class StageFixture {
    let results: TestSpace
    let staging = TestSpace()
    let source = TestSource()
    let stage: CacheStage
    var now = at(0)
    /// All actions so far, in order.
    private(set) var actions: [CacheAction] = []
    private let event: Wake
    private var nextJob: UInt64 = 1

    private final class Wake: Sendable {
        let event: EventDescriptor
        init() throws { event = try EventDescriptor() }
    }

    init(
        _ path: String?, policy: CachePolicy = CachePolicy(), resultBytesMax: Int = 1 << 30
    ) throws {
        let event = try Wake()
        self.event = event
        results = TestSpace(bytesMax: resultBytesMax)
        stage = try CacheStage(
            policy: policy, directory: try path.map { try CacheDirectory(path: $0) },
            results: results, staging: staging, source: source, now: now
        ) { event.event.signal() }
    }

    deinit { stage.stop() }

    func note(_ new: [CacheAction]) { actions += new }

    /// Collects actions until `done` returns a value; records an issue after ten seconds.
    @discardableResult
    func wait<R>(_ done: () -> R?) throws -> R {
        let deadline = MonotonicClock.now() + 10_000_000_000
        while true {
            if let result = done() { return result }
            try #require(MonotonicClock.now() < deadline, "nothing came within ten seconds")
            _ = try event.event.descriptor.wait(for: .readable, milliseconds: 100)
            event.event.drain()
            note(stage.collect(now: now))
        }
    }

    /// Starts a job on the stage. Returns its ID.
    func begin(_ work: JobWork) -> JobID {
        let id = JobID(nextJob)
        nextJob += 1
        let job = Job(id: id, attempt: 1, work: work, millisecondsLeft: 5_000, priority: .normal)
        note(stage.perform(job, now: now))
        return id
    }

    /// The result of a job, if it has one yet.
    func outcome(_ id: JobID) -> JobResult? {
        let all = actions.compactMap { action -> JobResult? in
            guard case .outcome(id, attempt: 1, let result) = action else { return nil }
            return result
        }
        #expect(all.count <= 1, "exactly one outcome")
        return all.first
    }

    /// Runs a job to completion.
    func run(_ work: JobWork) throws -> JobResult {
        let id = begin(work)
        return try wait { outcome(id) }
    }

    func query(
        _ key: String, _ tiers: CacheTypes = .all, _ destination: QueryWork.Destination = .results,
        promotes: Bool = true
    ) throws -> JobResult {
        try run(
            .query(
                QueryWork(key: key, tiers: tiers, destination: destination, promotes: promotes)))
    }

    /// The bytes of a hit and its tier; `nil` for a miss.
    func get(_ key: String, _ tiers: CacheTypes = .all) throws -> (bytes: [UInt8], CacheTypes)? {
        guard case .hit(let hit) = try query(key, tiers) else { return nil }
        return (try #require(results.read(hit.reference)), hit.tier)
    }

    func storing(
        _ key: String?, _ bytes: [UInt8], _ tiers: CacheTypes = .all, delivers: Bool = false,
        waits: Bool = true
    ) -> JobWork {
        .store(
            StoreWork(
                key: key, source: source.put(bytes), tiers: tiers, delivers: delivers,
                waitsForDisk: waits, metadata: jpegFacts))
    }

    /// Stores bytes and returns the report.
    func put(
        _ key: String?, _ bytes: [UInt8], _ tiers: CacheTypes = .all, delivers: Bool = false,
        waits: Bool = true
    ) throws -> StoreReport {
        let result = try run(storing(key, bytes, tiers, delivers: delivers, waits: waits))
        guard case .stored(let report) = result else {
            Issue.record("\(result)")
            return StoreReport(delivered: nil, tiers: .none)
        }
        return report
    }

    /// Flushes all pending disk writes.
    func drain() throws {
        actions.removeAll { $0 == .drained }
        note(stage.drain(now: now))
        try wait { actions.contains(.drained) ? true : nil }
    }

    /// Removes a key and returns the result.
    func remove(_ key: String, _ tiers: CacheTypes = .all) throws -> JobResult {
        try run(.entry(EntryWork(action: .remove, key: key, tiers: tiers)))
    }

    /// Which of these tiers have the key.
    func tiers(of key: String, _ tiers: CacheTypes = .all) throws -> CacheTypes? {
        let work = EntryWork(action: .contains, key: key, tiers: tiers)
        guard case .entry(let found) = try run(.entry(work)) else { return nil }
        return found
    }

    /// Removes all keys from these tiers and returns the result.
    func clear(_ tiers: CacheTypes) throws -> JobResult {
        try run(.entry(EntryWork(action: .clear, key: "", tiers: tiers)))
    }
}
