/// What the order of leaving may depend on.
package struct EvictionItem: Sendable, Hashable {
    /// Of its key: the same for every entry of one key.
    package let hash: UInt64
    /// What it takes, bytes.
    package let bytes: Int
    /// What it costs to make again, in any unit.
    package let work: Double

    /// Describes an entry.
    package init(hash: UInt64, bytes: Int, work: Double = 1) {
        self.hash = hash
        self.bytes = bytes
        self.work = work
    }
}

/// The order in which the entries of a tier leave it: slots, and nothing of what lies in them.
/// Whoever holds the entries asks for a victim and takes it out.
package protocol EvictionQueue: Sendable {
    /// An empty queue for a tier of so many bytes.
    init(bytesMax: Int)

    /// Entries.
    var count: Int { get }

    /// Takes an entry in, and answers the slot that names it until it is removed. Numbers of slots
    /// are small, and used again.
    mutating func insert(_ item: EvictionItem) -> Int32

    /// The entry was used.
    mutating func use(_ slot: Int32)

    /// The entry leaves, as a victim or for another reason.
    mutating func remove(_ slot: Int32, asVictim: Bool)

    /// The next one to go; `nil` where there is none.
    mutating func victim() -> Int32?
}

/// What is used most for its bytes stays: GreedyDual-Size-Frequency (Cherkasova, 1998) with three
/// additions.
///
/// An entry is worth its uses divided by its bytes, on top of what the last victim was worth when
/// it went: so whatever is not used any more ages. Where nobody used it yet, that counts as a tenth
/// of a use, and as a whole one where its key was let go lately: what is asked for once goes soon.
/// Uses count up to 15, so that no fame lasts. And what is new is not compared at all until a
/// thirty-second of the limit came after it: a result that is being delivered is still there when
/// its receiver copies it, however large it is.
///
/// Worths are rounded to lanes, two for each power of two. In a lane the oldest is worth least, so
/// a victim is found by a look at each lane; everything else touches one slot and its neighbours.
package struct WorthQueue: EvictionQueue {
    private static let none: Int32 = -1
    private static let usesMax: UInt8 = 15
    /// Of what is not compared yet; the others are those of worths.
    private static let window = 0
    private static let laneCount = 129
    /// The scale of worths: of a use for each so many bytes.
    private static let scale = 0x1p50
    private static let firstUse = 0.1
    private static let windowPart = 32
    /// The bytes by which it is measured how many keys are remembered.
    private static let typicalBytes = 16_384

    private struct Slot {
        var hash: UInt64
        var bytes: Int
        /// What the last victim was worth when this was put into its lane.
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
    private let worths = (0..<laneCount).map { WorthQueue.worth(ofLane: $0) }
    private var letGo: RecentKeys
    private var age = 0.0
    private var windowBytesMax: Int
    /// Entries.
    package private(set) var count = 0

    /// An empty queue for a tier of so many bytes.
    package init(bytesMax: Int) {
        windowBytesMax = bytesMax / Self.windowPart
        letGo = RecentKeys(capacity: min(bytesMax / Self.typicalBytes, 1 << 20))
    }

    /// The tier has another limit from now on.
    package mutating func limit(bytesMax: Int) { windowBytesMax = bytesMax / Self.windowPart }

    /// Takes an entry in, which is not compared with others for a while.
    package mutating func insert(_ item: EvictionItem) -> Int32 {
        var slot = Slot(hash: item.hash, bytes: max(1, item.bytes))
        if letGo.contains(item.hash) { slot.uses = 1 }
        let index = place(slot)
        count += 1
        append(index, to: Self.window)
        while lanes[Self.window].bytes > windowBytesMax, lanes[Self.window].oldest != index {
            value(lanes[Self.window].oldest)
        }
        return index
    }

    /// The entry was used.
    package mutating func use(_ index: Int32) {
        if slots[Int(index)].uses < Self.usesMax { slots[Int(index)].uses += 1 }
        if slots[Int(index)].lane != Self.window { value(index) }
    }

    /// The entry leaves, as a victim or for another reason.
    package mutating func remove(_ index: Int32, asVictim: Bool) {
        let slot = slots[Int(index)]
        if asVictim {
            letGo.note(slot.hash)
            if slot.lane != Self.window { age = max(age, slot.age + worths[Int(slot.lane)]) }
        }
        unlink(index)
        free.append(index)
        count -= 1
    }

    /// The one that is worth least; the oldest where all are new.
    package mutating func victim() -> Int32? {
        var found = Self.none
        var least = Double.infinity
        for lane in 1..<Self.laneCount where lanes[lane].oldest != Self.none {
            let worth = slots[Int(lanes[lane].oldest)].age + worths[lane]
            if worth < least { (found, least) = (lanes[lane].oldest, worth) }
        }
        if found == Self.none { found = lanes[Self.window].oldest }
        return found == Self.none ? nil : found
    }

    // MARK: - Worth

    /// Puts an entry into the lane of what it is worth now.
    private mutating func value(_ index: Int32) {
        unlink(index)
        let slot = slots[Int(index)]
        let uses = slot.uses == 0 ? Self.firstUse : Double(slot.uses)
        slots[Int(index)].age = age
        append(index, to: Self.lane(of: uses / Double(slot.bytes)))
    }

    /// Powers of two, and the middles between them.
    private static func lane(of worth: Double) -> Int {
        let scaled = UInt64(min(max(worth * scale, 2), 0x1p62))
        let power = UInt64.bitWidth - 1 - scaled.leadingZeroBitCount
        let isUpperHalf = scaled >> UInt64(power - 1) & 1 == 1
        return 1 + 2 * power + (isUpperHalf ? 1 : 0)
    }

    private static func worth(ofLane lane: Int) -> Double {
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
