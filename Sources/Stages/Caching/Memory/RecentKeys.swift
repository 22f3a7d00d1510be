/// Which keys were seen lately: two Bloom filters, of which the older is emptied when the newer has
/// as many keys as it was made for. So between one and two times that many are known, and of a
/// hundred others two or three are taken for one of them.
package struct RecentKeys: Sendable {
    private var newer: [UInt64]
    private var older: [UInt64]
    private var count = 0
    private let capacity: Int

    private static let bitsForEach = 8
    private static let probes: UInt64 = 4

    /// Knows nothing yet. Takes two bytes for each key of `capacity`, rounded up to a power of two.
    package init(capacity: Int) {
        self.capacity = max(64, capacity)
        var words = 1
        while words * UInt64.bitWidth < self.capacity * Self.bitsForEach { words *= 2 }
        newer = [UInt64](repeating: 0, count: words)
        older = newer
    }

    /// Whether a key was noted lately.
    package func contains(_ hash: UInt64) -> Bool {
        has(hash, in: newer) || has(hash, in: older)
    }

    /// Notes a key, and answers whether it was noted before.
    @discardableResult
    package mutating func note(_ hash: UInt64) -> Bool {
        guard !has(hash, in: newer) else { return true }
        let isKnown = has(hash, in: older)
        if count >= capacity {
            swap(&newer, &older)
            for word in newer.indices { newer[word] = 0 }
            count = 0
        }
        for probe in 0..<Self.probes {
            let (word, bit) = place(hash, probe)
            newer[word] |= bit
        }
        count += 1
        return isKnown
    }

    private func has(_ hash: UInt64, in filter: [UInt64]) -> Bool {
        for probe in 0..<Self.probes {
            let (word, bit) = place(hash, probe)
            guard filter[word] & bit != 0 else { return false }
        }
        return true
    }

    private func place(_ hash: UInt64, _ probe: UInt64) -> (word: Int, bit: UInt64) {
        // Two halves of one hash make as many as are wanted (Kirsch and Mitzenmacher, 2006).
        let mixed = (hash & 0xFFFF_FFFF) &+ probe &* (hash >> 32 | 1)
        let place = Int(truncatingIfNeeded: mixed) & (newer.count * UInt64.bitWidth - 1)
        return (place / UInt64.bitWidth, 1 << UInt64(place % UInt64.bitWidth))
    }
}
