import Glibc
import TestKit

/// Draws numbers with Zipf-distributed popularity in constant time (Walker's alias method).
struct Popularity {
    private var limits: [Double]
    private var others: [Int32]

    init(exponent: Double, count: Int) {
        var weights = (1...count).map { pow(Double($0), -exponent) }
        let scale = Double(count) / weights.reduce(0, +)
        for index in weights.indices { weights[index] *= scale }
        limits = [Double](repeating: 1, count: count)
        others = [Int32](repeating: 0, count: count)
        var small = weights.indices.filter { weights[$0] < 1 }
        var large = weights.indices.filter { weights[$0] >= 1 }
        while let low = small.popLast(), let high = large.last {
            limits[low] = weights[low]
            others[low] = Int32(high)
            weights[high] -= 1 - weights[low]
            if weights[high] < 1 { small.append(large.removeLast()) }
        }
    }

    /// A rank, counted from 0.
    func draw(_ random: inout SeededGenerator) -> Int32 {
        let place = Int(random.unit() * Double(limits.count))
        return random.unit() < limits[place] ? Int32(place) : others[place]
    }
}

extension SeededGenerator {
    /// A number in 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A log-normal number with this median and this deviation of its logarithm.
    mutating func logNormal(median: Double, deviation: Double) -> Double {
        let radius = sqrt(-2 * log(1 - unit()))
        return median * exp(deviation * radius * cos(2 * .pi * unit()))
    }
}
