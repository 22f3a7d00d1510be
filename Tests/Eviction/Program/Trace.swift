import Caching
import TestKit

/// A sequence of requests and the requested objects.
struct Trace {
    let name: String
    var requests: [Int32] = []
    var items: [EvictionItem] = []

    /// The total size of all objects in bytes.
    var bytes: Int {
        var isAsked = [Bool](repeating: false, count: items.count)
        for request in requests { isAsked[Int(request)] = true }
        return items.indices.reduce(0) { $0 + (isAsked[$1] ? items[$1].bytes : 0) }
    }

    /// The index of the next request of each request's object; `Int32.max` for none.
    var nextUses: [Int32] {
        var next = [Int32](repeating: .max, count: items.count)
        var uses = [Int32](repeating: .max, count: requests.count)
        for index in requests.indices.reversed() {
            let object = Int(requests[index])
            uses[index] = next[object]
            next[object] = Int32(index)
        }
        return uses
    }
}

/// The parameters of a trace.
struct TraceRecipe {
    var name: String
    var requests: Int
    var objects: Int
    var exponent = 0.9
    /// The percentage of requests that are scans of objects not requested otherwise.
    var scanPercent = 0
    /// Whether sizes are log-normally distributed; otherwise all are equal.
    var mixesSizes = false
    /// Requests every object in order, repeatedly, and nothing else.
    var onlyScans = false
    /// After this many requests the ranks shift by a fiftieth of the objects; 0 means never.
    var shiftEvery = 0

    /// The median size of an image in bytes.
    static let typicalBytes = 24_576.0
    static let scanLength = 1_000

    func generate(seed: UInt64) -> Trace {
        var random = SeededGenerator(seed: seed)
        var trace = Trace(name: name)
        trace.requests.reserveCapacity(requests)
        for _ in 0..<objects { trace.items.append(item(UInt64(trace.items.count), &random)) }
        let popularity = Popularity(exponent: onlyScans ? 0 : exponent, count: objects)
        while trace.requests.count < requests {
            let begins = scanPercent > 0 && random.unit() * 100 < beginsPercent
            if begins { scan(&trace, &random) } else { one(&trace, popularity, &random) }
        }
        return trace
    }

    /// The percentage of single requests that are preceded by a scan.
    private var beginsPercent: Double {
        Double(scanPercent) / Double(100 - scanPercent) / Double(Self.scanLength) * 100
    }

    private func one(
        _ trace: inout Trace, _ popularity: Popularity, _ random: inout SeededGenerator
    ) {
        let number = trace.requests.count
        guard !onlyScans else { return trace.requests.append(Int32(number % objects)) }
        let rank = Int(popularity.draw(&random))
        let shift = shiftEvery == 0 ? 0 : number / shiftEvery * (objects / 50)
        trace.requests.append(Int32((rank + shift) % objects))
    }

    private func scan(_ trace: inout Trace, _ random: inout SeededGenerator) {
        for _ in 0..<Self.scanLength where trace.requests.count < requests {
            trace.requests.append(Int32(trace.items.count))
            trace.items.append(item(UInt64(trace.items.count), &random))
        }
    }

    /// Fetching takes about 60 ms; decoding and encoding take half a microsecond per byte.
    private func item(_ number: UInt64, _ random: inout SeededGenerator) -> EvictionItem {
        var bytes = Self.typicalBytes
        if mixesSizes {
            bytes = min(max(random.logNormal(median: bytes, deviation: 1.2), 512), 16_777_216)
        }
        let work = random.logNormal(median: 60, deviation: 0.8) + bytes * 0.0005
        return EvictionItem(hash: random.next(), bytes: Int(bytes), work: work)
    }
}
