import Model
import TestKit

@testable import Coordinator

/// A random walk whose cache keeps everything it is given and answers queries with what it had when
/// it received them, however late, and without losses, lies and cancels: then no URL may ever be
/// fetched twice (SEMANTICS §3.5: there is no gap between fetch and store).
struct HonestWalk {
    var stack: Stack
    var random: SeededGenerator
    /// Keys on disk.
    private var stored: Set<String> = []
    /// The result of each query, as of the moment when the cache received it.
    private var found: [JobID: Bool] = [:]
    let client: ClientID

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let isShort = random.oneIn(2)
        stack = Stack { limits in
            if isShort { (limits.batchStepsMax, limits.batchTransitionsMax) = (1, 1) }
        }
        client = stack.connect()
        for kind in WorkerKind.workers {
            stack.hire(kind, credit: Int.random(in: 1...6, using: &random))
        }
    }

    mutating func step() {
        if random.oneIn(4) { load() } else { finish() }
        look()
    }

    mutating func comeToRest() {
        repeat {
            if stack.allHeld.isEmpty { stack.goOn() } else { finish() }
            look()
        } while !stack.allHeld.isEmpty || stack.scheduler.isUnfinished
        if !stack.isAtRest { stack.fault("something is left") }
        for (url, count) in stack.gets where count > 1 {
            stack.fault("\(url) was fetched \(count) times")
        }
    }

    /// Records the results of queries that the cache has just received.
    private mutating func look() {
        for held in stack.held(.query) where found[held.job.id] == nil {
            guard case .query(let work) = held.job.work else { continue }
            found[held.job.id] = stored.contains(work.key)
        }
    }

    private mutating func load() {
        let name = "p\(Int.random(in: 0...5, using: &random))"
        var request = ImageRequest.image(
            name, size: random.oneIn(3) ? nil : Int.random(in: 1...3, using: &random))
        if random.oneIn(4) { request.output.format = .webp }
        if random.oneIn(9) { request = ImageRequest.image(name).with { $0.infoOnly = true } }
        if random.oneIn(5) { request.options.insert(.waitStoreCache) }
        if random.oneIn(5) { request.options.insert(.highPriority) }
        if random.oneIn(5) { request.options.insert(.fromCacheOnly) }
        if random.oneIn(5) { request.queryCacheTypes = .disk }
        if random.oneIn(3) { request.context.serializer = .transcode(.png, quality: nil) }
        if random.oneIn(5) { request.originalQueryCacheTypes = .all }
        if random.oneIn(4), !request.infoOnly {
            let other = "p\(Int.random(in: 0...5, using: &random))"
            request.steps.append(.overlay(Overlay(url: ImageRequest.image(other).url)))
        }
        stack.load(request, by: client)
    }

    private mutating func finish() {
        guard let held = stack.allHeld.randomElement(using: &random) else { return }
        switch held.job.work {
        case .query(let work):
            let isHit = found.removeValue(forKey: held.job.id) ?? stored.contains(work.key)
            stack.finish(held, isHit ? stack.hit(held) : .miss)
        case .store(let work):
            if let key = work.key, work.tiers.contains(.disk) { stored.insert(key) }
            stack.finish(held)
        default:
            stack.finish(held)
        }
    }
}
