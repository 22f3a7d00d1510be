import Glibc
import Linux
import TestKit

/// The reason why a measurement failed.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Latencies of single reads in milliseconds.
struct Latencies {
    private var samples: [Double] = []

    var isEmpty: Bool { samples.isEmpty }

    /// Reads an image, which must be present and correct. The bytes are checked after the time is
    /// taken.
    mutating func measure(_ side: any Side, _ number: Int) throws {
        let began = MonotonicClock.now()
        let isThere = try side.hit(number)
        samples.append(Double(MonotonicClock.now() - began) / 1e6)
        guard isThere else { throw BenchFailure("image \(number) is not there any more") }
        guard side.isRight(number) else {
            throw BenchFailure("image \(number) is not what was stored")
        }
    }

    /// The median, the 99th percentile and the maximum.
    func metrics(_ name: String) -> [String: Double] {
        let sorted = samples.sorted()
        guard let last = sorted.last else { return [:] }
        return [
            "\(name)_p50_ms": sorted[sorted.count / 2],
            "\(name)_p99_ms": sorted[sorted.count * 99 / 100], "\(name)_max_ms": last,
        ]
    }
}

/// The measurements of one cache, in two processes: one that stores everything and one that reads
/// it after a restart.
enum Measurement {
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let began = MonotonicClock.now()
        try body()
        return Double(MonotonicClock.now() - began) / 1e9
    }

    /// Stores all images; the first and the last tenth are timed separately.
    static func store(_ side: any Side, _ entries: Int) throws -> [String: Double] {
        let tenth = max(1, entries / 10)
        var rates: [Double] = []
        var total = 0.0
        for begin in stride(from: 0, to: entries, by: tenth) {
            let end = min(begin + tenth, entries)
            let seconds = try seconds {
                for number in begin..<end { try side.store(number) }
                try side.finishStores()
            }
            total += seconds
            rates.append(Double(end - begin) / seconds)
            log("\(end) stored, \(Int(rates.last ?? 0)) a second")
        }
        return [
            "first_per_s": rates.first ?? 0, "last_per_s": rates.last ?? 0,
            "store_per_s": Double(entries) / total,
        ]
    }

    /// Reads at random, reads the same again, and, if `trims`, reads the newest of it repeatedly
    /// while the older half is removed.
    static func serve(
        _ open: () throws -> any Side, _ entries: Int, trims: Bool
    ) throws -> [String: Double] {
        var random = SeededGenerator(seed: 7)
        let count = min(10_000, max(1, entries / 4))
        let numbers = (0..<count).map { _ in Int.random(in: 0..<entries, using: &random) }
        var metrics: [String: Double] = [:]
        let began = MonotonicClock.now()
        let side = try open()
        try awaitHit(of: entries - 1, side)
        metrics["open_ms"] = Double(MonotonicClock.now() - began) / 1e6
        for name in ["first", "again"] {
            var latencies = Latencies()
            for number in numbers { try latencies.measure(side, number) }
            metrics.merge(latencies.metrics(name)) { $1 }
            log("\(count) read \(name)")
        }
        if trims {
            let new = numbers.filter { $0 >= entries * 3 / 4 }
            metrics.merge(try trim(side, new)) { $1 }
        }
        side.stop()
        return metrics
    }

    /// A starting stack has no cache at first.
    private static func awaitHit(of number: Int, _ side: any Side) throws {
        let began = MonotonicClock.now()
        while try !side.hit(number) {
            guard MonotonicClock.now() < began + 60_000_000_000 else {
                throw BenchFailure("image \(number) is not there")
            }
            usleep(1_000)
        }
        guard side.isRight(number) else { throw BenchFailure("image \(number) is another") }
    }

    private static func trim(_ side: any Side, _ numbers: [Int]) throws -> [String: Double] {
        var latencies = Latencies()
        let seconds = try seconds {
            try side.beginTrim()
            var turn = 0
            while !side.isTrimmed() || latencies.isEmpty {
                try latencies.measure(side, numbers[turn % numbers.count])
                turn += 1
            }
        }
        return latencies.metrics("trimming").merging(["trim_s": seconds]) { $1 }
    }

    /// Stores more than fits, with the byte limit already reached.
    static func storeOver(_ side: StageSide, _ entries: Int) throws -> [String: Double] {
        let limit = try side.limitToPresentBytes()
        let count = max(1, entries / 20)
        let seconds = try seconds {
            for number in entries..<(entries + count) { try side.store(number) }
            try side.finishStores()
        }
        side.stop()
        return [
            "over_per_s": Double(count) / seconds, "limit_mb": Double(limit) / 1e6,
            "most_mb": Double(side.mostBytes) / 1e6,
        ]
    }

    static func log(_ text: String) {
        let error = FileDescriptor(owning: 2)
        try? error.writeAll(Array("  \(text)\n".utf8))
        _ = error.relinquish()
    }
}
