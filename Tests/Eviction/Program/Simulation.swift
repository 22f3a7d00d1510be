import Caching

/// The hits of a cache on a trace.
struct Score {
    var hits = 0
    var bytesHit = 0.0
    var workSaved = 0.0
    var bytes = 0.0
    var work = 0.0
    var requests = 0

    mutating func count(_ item: EvictionItem, isHit: Bool) {
        requests += 1
        bytes += Double(item.bytes)
        work += item.work
        guard isHit else { return }
        hits += 1
        bytesHit += Double(item.bytes)
        workSaved += item.work
    }

    /// Hit ratios in percent: by requests, by bytes, by work.
    var percents: [Double] {
        [Double(hits) / Double(requests), bytesHit / bytes, workSaved / work].map { $0 * 100 }
    }
}

/// A cache tier that runs a trace with a policy. As in the cache, uses are reported late and in
/// batches, each object once per batch.
struct Simulation<Queue: EvictionQueue> {
    private var queue: Queue
    private let bytesMax: Int
    private var bytes = 0
    private var slotOf: [Int32]
    private var objectOf: [Int32] = []
    private var batch: [Int32] = []
    private var isInBatch: [Bool]
    /// As many as the coordinator collects for one `Touched`.
    static var batchMax: Int { 64 }

    init(_ trace: Trace, bytesMax: Int) {
        self.bytesMax = bytesMax
        queue = Queue(bytesMax: bytesMax)
        slotOf = [Int32](repeating: -1, count: trace.items.count)
        isInBatch = [Bool](repeating: false, count: trace.items.count)
    }

    static func run(_ trace: Trace, bytesMax: Int) -> Score {
        var simulation = Simulation(trace, bytesMax: bytesMax)
        var score = Score()
        for object in trace.requests {
            let item = trace.items[Int(object)]
            let isHit = simulation.slotOf[Int(object)] >= 0
            score.count(item, isHit: isHit)
            if isHit { simulation.use(object) } else { simulation.insert(object, item, trace) }
        }
        return score
    }

    private mutating func use(_ object: Int32) {
        guard !isInBatch[Int(object)] else { return }
        isInBatch[Int(object)] = true
        batch.append(object)
        guard batch.count >= Self.batchMax else { return }
        for object in batch {
            isInBatch[Int(object)] = false
            if slotOf[Int(object)] >= 0 { queue.use(slotOf[Int(object)]) }
        }
        batch.removeAll(keepingCapacity: true)
    }

    private mutating func insert(_ object: Int32, _ item: EvictionItem, _ trace: Trace) {
        guard item.bytes <= bytesMax else { return }
        while bytes + item.bytes > bytesMax, let slot = queue.victim() {
            queue.remove(slot, asVictim: true)
            let gone = Int(objectOf[Int(slot)])
            slotOf[gone] = -1
            bytes -= trace.items[gone].bytes
        }
        let slot = queue.insert(item)
        while objectOf.count <= Int(slot) { objectOf.append(-1) }
        objectOf[Int(slot)] = object
        slotOf[Int(object)] = slot
        bytes += item.bytes
    }
}

/// The optimum with knowledge of the future: evicts the largest of the objects requested last
/// (Belady's rule, weighted by bytes). Objects that are never requested again aren't kept.
enum Foresight {
    static func run(_ trace: Trace, bytesMax: Int) -> Score {
        var score = Score()
        var bytes = 0
        var heap = SlotHeap()
        let next = trace.nextUses
        for (index, object) in trace.requests.enumerated() {
            let item = trace.items[Int(object)]
            let isHit = heap.contains(object)
            score.count(item, isHit: isHit)
            if next[index] == .max {
                if isHit {
                    heap.remove(object)
                    bytes -= item.bytes
                }
                continue
            }
            if !isHit { bytes += item.bytes }
            // A min-heap: the sooner and smaller, the greater the value.
            heap.set(object, value(item, at: next[index]))
            while bytes > bytesMax, let gone = heap.least {
                heap.remove(gone)
                bytes -= trace.items[Int(gone)].bytes
            }
        }
        return score
    }

    private static func value(_ item: EvictionItem, at next: Int32) -> Double {
        -Double(next) * Double(item.bytes)
    }
}
