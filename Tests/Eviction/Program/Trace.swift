import Caching
import TestKit

/// Requests in their order, and what is asked for.
struct Trace {
    let name: String
    var requests: [Int32] = []
    var items: [EvictionItem] = []

    /// What all that is asked for takes.
    var bytes: Int {
        var isAsked = [Bool](repeating: false, count: items.count)
        for request in requests { isAsked[Int(request)] = true }
        return items.indices.reduce(0) { $0 + (isAsked[$1] ? items[$1].bytes : 0) }
    }

    /// When each request's object is asked for again; `Int32.max` for never.
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

/// How a trace is made.
struct TraceRecipe {
    var name: String
    var requests: Int
    var objects: Int
    var exponent = 0.9
    /// Requests of a hundred that belong to a walk over objects which nobody else asks for.
    var scanPercent = 0
    /// Whether sizes are log-normal; else all are alike.
    var mixesSizes = false
    /// Every object once, in its order, again and again, and nothing else.
    var onlyScans = false
    /// After so many requests the ranks move on by a fiftieth of the objects; 0 is never.
    var shiftEvery = 0

    /// The bytes of an image: half of them have less.
    static let typicalBytes = 24_576.0
    static let scanLength = 1_000

    func made(seed: UInt64) -> Trace {
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

    /// Of single requests, how many a walk comes before.
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

    /// Fetching takes 60 ms, give and take; decoding and encoding half a microsecond a byte.
    private func item(_ number: UInt64, _ random: inout SeededGenerator) -> EvictionItem {
        var bytes = Self.typicalBytes
        if mixesSizes {
            bytes = min(max(random.logNormal(median: bytes, deviation: 1.2), 512), 16_777_216)
        }
        let work = random.logNormal(median: 60, deviation: 0.8) + bytes * 0.0005
        return EvictionItem(hash: random.next(), bytes: Int(bytes), work: work)
    }
}
