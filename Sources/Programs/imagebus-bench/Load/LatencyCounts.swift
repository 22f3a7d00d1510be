/// How often something took how long: a counter for each 128th of a doubling (0.8 %), so that
/// recording costs a few nanoseconds beside the loads that are measured.
struct LatencyCounts: Hashable, Sendable {
    /// Steps of a doubling, as a power of two.
    private static let stepBits = 7
    private static let steps = 1 << stepBits

    private var counts = [UInt32](repeating: 0, count: (65 - stepBits) * steps)
    private(set) var count: UInt64 = 0

    /// One more.
    mutating func record(nanoseconds: UInt64) {
        counts[Self.place(of: nanoseconds)] &+= 1
        count += 1
    }

    mutating func add(_ other: LatencyCounts) {
        for place in counts.indices { counts[place] &+= other.counts[place] }
        count += other.count
    }

    /// What `share` (0 to 1) of them took at most, in milliseconds; 0 where there are none.
    func milliseconds(at share: Double) -> Double {
        let wanted = max(1, (Double(count) * share).rounded(.up))
        var sum: UInt64 = 0
        for (place, number) in counts.enumerated() {
            sum += UInt64(number)
            if Double(sum) >= wanted { return Self.upperEnd(of: place) / 1e6 }
        }
        return 0
    }

    private static func place(of value: UInt64) -> Int {
        guard value >= UInt64(steps) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - stepBits
        return (shift + 1) << stepBits | Int(value >> UInt64(shift)) & (steps - 1)
    }

    /// In nanoseconds.
    private static func upperEnd(of place: Int) -> Double {
        guard place >= steps else { return Double(place) }
        let shift = place >> stepBits - 1
        return Double(UInt64(place & (steps - 1) | steps) << UInt64(shift)) + Double(1 << shift)
    }
}
