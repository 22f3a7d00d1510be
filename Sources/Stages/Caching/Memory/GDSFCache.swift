/// The properties of an entry on which the eviction order may depend.
package struct EvictionItem: Sendable, Hashable {
    /// The hash of its key: the same for every entry of one key.
    package let hash: UInt64
    /// Its size in bytes.
    package let bytes: Int
    /// The cost of producing it again, in any unit.
    package let work: Double

    package init(hash: UInt64, bytes: Int, work: Double = 1) {
        self.hash = hash
        self.bytes = bytes
        self.work = work
    }
}

/// The eviction order of a tier: manages slots, not their contents. The owner of the entries asks
/// for a victim and removes it.
package protocol EvictionQueue: Sendable {
    /// Creates an empty queue for a tier of this size in bytes.
    init(bytesMax: Int)

    /// The number of entries.
    var count: Int { get }

    /// Inserts an entry and returns its slot, which identifies it until it is removed. Slots are
    /// small numbers and are reused.
    mutating func insert(_ item: EvictionItem) -> Int32

    /// Records a use of the entry.
    mutating func use(_ slot: Int32)

    /// Removes an entry, as a victim or for another reason.
    mutating func remove(_ slot: Int32, asVictim: Bool)

    /// Returns the next entry to evict; `nil` if there are none.
    mutating func victim() -> Int32?
}

/// GreedyDual-Size-Frequency eviction (Cherkasova, 1998), which keeps entries with the most uses
/// per byte, with three additions.
///
/// The worth of an entry is its number of uses divided by its size, plus the worth of the last
/// victim at that time, so unused entries age. An unused entry counts as a tenth of a use, or as a
/// full use if its key was evicted recently, so one-time entries leave soon. Uses are capped at 15,
/// so that past popularity fades. New entries are not ranked until a thirty-second of the limit was
/// inserted after them, so that a result being delivered is still present when its receiver copies
/// it, however large it is.
///
/// Worths are rounded to lanes, two per power of two. Within a lane the oldest entry comes first,
/// so finding a victim takes one look at each lane; every other operation touches one slot and its
/// neighbors.
package struct GDSFCache: EvictionQueue {
    private static let none: Int32 = -1
    private static let usesMax: UInt8 = 15
    /// The lane of new, unranked entries; the other lanes are those of worths.
    private static let window = 0
    private static let laneCount = 129
    /// The scale of worths, which are uses per byte.
    private static let scale = 0x1p50
    private static let firstUse = 0.1
    private static let windowPart = 32
    /// The assumed entry size from which the number of remembered keys is computed.
    private static let typicalBytes = 16_384

    private struct Slot {
        var hash: UInt64
        var bytes: Int
        /// The worth of the last victim when this entry was put into its lane.
        var age = 0.0
        var uses: UInt8 = 0
        var lane: UInt8 = 0
        var newer = none
        var older = none
    }

    private struct Lane {
        var newest = none
        var oldest = none
        var bytes = 0
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var lanes = [Lane](repeating: Lane(), count: laneCount)
    private let priorities = (0..<laneCount).map { GDSFCache.priority(ofLane: $0) }
    /// The keys of recent victims: an entry that returns was evicted too early.
    private var recentVictims: RecentKeys
    private var age = 0.0
    private var windowBytesMax: Int
    /// The number of entries.
    package private(set) var count = 0

    /// Creates an empty queue for a tier of this size in bytes.
    package init(bytesMax: Int) {
        windowBytesMax = bytesMax / Self.windowPart
        recentVictims = RecentKeys(capacity: min(bytesMax / Self.typicalBytes, 1 << 20))
    }

    /// Applies a new limit of the tier.
    package mutating func limit(bytesMax: Int) { windowBytesMax = bytesMax / Self.windowPart }

    /// Inserts an entry, which is not ranked for a while.
    package mutating func insert(_ item: EvictionItem) -> Int32 {
        var slot = Slot(hash: item.hash, bytes: max(1, item.bytes))
        if recentVictims.contains(item.hash) { slot.uses = 1 }
        let index = place(slot)
        count += 1
        append(index, to: Self.window)
        while lanes[Self.window].bytes > windowBytesMax, lanes[Self.window].oldest != index {
            value(lanes[Self.window].oldest)
        }
        return index
    }

    /// Records a use of the entry.
    package mutating func use(_ index: Int32) {
        if slots[Int(index)].uses < Self.usesMax { slots[Int(index)].uses += 1 }
        if slots[Int(index)].lane != Self.window { value(index) }
    }

    /// Removes an entry, as a victim or for another reason.
    package mutating func remove(_ index: Int32, asVictim: Bool) {
        let slot = slots[Int(index)]
        if asVictim {
            recentVictims.note(slot.hash)
            if slot.lane != Self.window { age = max(age, slot.age + priorities[Int(slot.lane)]) }
        }
        unlink(index)
        free.append(index)
        count -= 1
    }

    /// Returns the entry with the lowest worth; the oldest if all are new.
    package mutating func victim() -> Int32? {
        var found = Self.none
        var least = Double.infinity
        for lane in 1..<Self.laneCount where lanes[lane].oldest != Self.none {
            let priority = slots[Int(lanes[lane].oldest)].age + priorities[lane]
            if priority < least { (found, least) = (lanes[lane].oldest, priority) }
        }
        if found == Self.none { found = lanes[Self.window].oldest }
        return found == Self.none ? nil : found
    }

    // MARK: - Worth

    /// Moves an entry into the lane of its current worth.
    private mutating func value(_ index: Int32) {
        unlink(index)
        let slot = slots[Int(index)]
        let uses = slot.uses == 0 ? Self.firstUse : Double(slot.uses)
        slots[Int(index)].age = age
        append(index, to: Self.lane(of: uses / Double(slot.bytes)))
    }

    /// Returns the lane of a worth: powers of two and the midpoints between them.
    private static func lane(of priority: Double) -> Int {
        let scaled = UInt64(min(max(priority * scale, 2), 0x1p62))
        let power = UInt64.bitWidth - 1 - scaled.leadingZeroBitCount
        let isUpperHalf = scaled >> UInt64(power - 1) & 1 == 1
        return 1 + 2 * power + (isUpperHalf ? 1 : 0)
    }

    private static func priority(ofLane lane: Int) -> Double {
        let (power, half) = (lane - 1).quotientAndRemainder(dividingBy: 2)
        guard lane > 0 else { return 0 }
        return Double(1 << UInt64(power)) * (half == 1 ? 1.5 : 1) / scale
    }

    // MARK: - Slots

    private mutating func append(_ index: Int32, to lane: Int) {
        let newest = lanes[lane].newest
        slots[Int(index)].lane = UInt8(lane)
        slots[Int(index)].older = newest
        slots[Int(index)].newer = Self.none
        if newest != Self.none {
            slots[Int(newest)].newer = index
        } else {
            lanes[lane].oldest = index
        }
        lanes[lane].newest = index
        lanes[lane].bytes += slots[Int(index)].bytes
    }

    private mutating func unlink(_ index: Int32) {
        let slot = slots[Int(index)]
        let lane = Int(slot.lane)
        if slot.newer != Self.none {
            slots[Int(slot.newer)].older = slot.older
        } else {
            lanes[lane].newest = slot.older
        }
        if slot.older != Self.none {
            slots[Int(slot.older)].newer = slot.newer
        } else {
            lanes[lane].oldest = slot.newer
        }
        lanes[lane].bytes -= slot.bytes
    }

    private mutating func place(_ slot: Slot) -> Int32 {
        if let index = free.popLast() {
            slots[Int(index)] = slot
            return index
        }
        slots.append(slot)
        return Int32(slots.count - 1)
    }
}

/// Recently seen keys: two Bloom filters, of which the older is cleared when the newer has reached
/// its capacity. So between one and two times the capacity is remembered, with a false-positive
/// rate of two to three percent.
package struct RecentKeys: Sendable {
    private var newer: [UInt64]
    private var older: [UInt64]
    private var count = 0
    private let capacity: Int

    private static let bitsForEach = 8
    private static let probes: UInt64 = 4

    /// Creates an empty set. Takes two bytes per key of `capacity`, rounded up to a power of two.
    package init(capacity: Int) {
        self.capacity = max(64, capacity)
        var words = 1
        while words * UInt64.bitWidth < self.capacity * Self.bitsForEach { words *= 2 }
        newer = [UInt64](repeating: 0, count: words)
        older = newer
    }

    /// Returns whether a key was recorded recently.
    package func contains(_ hash: UInt64) -> Bool {
        has(hash, in: newer) || has(hash, in: older)
    }

    /// Records a key and returns whether it was recorded before.
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
        // Derives any number of hashes from the two halves of one (Kirsch and Mitzenmacher, 2006).
        let mixed = (hash & 0xFFFF_FFFF) &+ probe &* (hash >> 32 | 1)
        let place = Int(truncatingIfNeeded: mixed) & (newer.count * UInt64.bitWidth - 1)
        return (place / UInt64.bitWidth, 1 << UInt64(place % UInt64.bitWidth))
    }
}
