import Caching

/// W-TinyLFU (Einziger et al., 2017): a window of 1 %, then a segmented LRU that admits an entry
/// from the window only if it was seen more often than the entry it would evict.
struct TinyLFUQueue: EvictionQueue {
    private static let window: UInt8 = 0
    private static let probation: UInt8 = 1
    private static let protected: UInt8 = 2

    private var table = SlotMap()
    private var lists = [SlotList(), SlotList(), SlotList()]
    private var sketch: FrequencySketch
    private let windowBytesMax: Int
    private let protectedBytesMax: Int
    /// The typical entry size, from which the size of the sketch is derived.
    private static let typicalBytes = 16_384

    init(bytesMax: Int) {
        windowBytesMax = bytesMax / 100
        protectedBytesMax = bytesMax / 100 * 79
        sketch = FrequencySketch(width: bytesMax / Self.typicalBytes)
    }

    var count: Int { table.count }

    mutating func insert(_ item: EvictionItem) -> Int32 {
        sketch.note(item.hash)
        // There is room, so entries that leave the window are admitted without an eviction.
        while lists[Int(Self.window)].bytes > windowBytesMax {
            move(lists[Int(Self.window)].oldest, Self.probation)
        }
        let slot = table.add(item)
        put(slot, Self.window)
        return slot
    }

    mutating func use(_ slot: Int32) {
        sketch.note(table[slot].item.hash)
        switch table[slot].list {
        case Self.probation:
            move(slot, Self.protected)
            while lists[Int(Self.protected)].bytes > protectedBytesMax,
                lists[Int(Self.protected)].count > 1
            {
                move(lists[Int(Self.protected)].oldest, Self.probation)
            }
        default: lists[Int(table[slot].list)].renew(slot, in: &table)
        }
    }

    mutating func remove(_ slot: Int32, asVictim: Bool) {
        lists[Int(table[slot].list)].unlink(slot, in: &table)
        table.drop(slot)
    }

    mutating func victim() -> Int32? {
        while true {
            let (window, main) = (lists[Int(Self.window)], mainVictim)
            guard window.bytes > windowBytesMax || main == nil, window.count > 0 else {
                return main
            }
            let candidate = window.oldest
            guard let main else { return candidate }
            guard isBetter(candidate, main) else { return candidate }
            move(candidate, Self.probation)
            return main
        }
    }

    private var mainVictim: Int32? {
        for list in [Self.probation, Self.protected] where lists[Int(list)].count > 0 {
            return lists[Int(list)].oldest
        }
        return nil
    }

    private func isBetter(_ one: Int32, _ other: Int32) -> Bool {
        sketch.frequency(table[one].item.hash) > sketch.frequency(table[other].item.hash)
    }

    private mutating func put(_ slot: Int32, _ list: UInt8) {
        table[slot].list = list
        lists[Int(list)].append(slot, in: &table)
    }

    private mutating func move(_ slot: Int32, _ list: UInt8) {
        lists[Int(table[slot].list)].unlink(slot, in: &table)
        put(slot, list)
    }
}
