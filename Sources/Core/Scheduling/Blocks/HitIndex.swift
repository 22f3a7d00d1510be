import ImageModel
import Messages

/// What the cache has in memory, as far as the coordinator knows: soft, bounded, and enough to
/// answer a hit without asking (DESIGN §4, hits in two messages).
struct HitIndex: Sendable {
    /// One entry of the memory tier.
    struct Entry: Sendable {
        let reference: BlockReference
        let info: ImageInfo
        let expiry: Instant?
        fileprivate let serial: UInt64
    }

    private let entriesMax: Int
    private var entries: [String: Entry] = [:]
    private var keys: [BlockID: String] = [:]
    private var order = Fifo<Age>()
    private var serial: UInt64 = 0

    private struct Age {
        let serial: UInt64
        let key: String
    }

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    var count: Int { entries.count }

    /// The entry of a key, unless it expired.
    func entry(for key: String, at now: Instant) -> Entry? {
        guard let entry = entries[key] else { return nil }
        if let expiry = entry.expiry, expiry <= now { return nil }
        return entry
    }

    /// The cache answers a key from memory; the reference has been checked.
    mutating func insert(_ notice: StoredNotice, _ reference: BlockReference, at now: Instant) {
        remove(reference.block)
        if let old = entries[notice.key] { keys[old.reference.block] = nil }
        serial += 1
        let expiry = notice.expiresInMilliseconds.map {
            now.adding(milliseconds: Int(clamping: $0))
        }
        entries[notice.key] = Entry(
            reference: reference, info: notice.info, expiry: expiry, serial: serial)
        keys[reference.block] = notice.key
        order.append(Age(serial: serial, key: notice.key))
        makeRoom()
    }

    /// A block holds its key no longer.
    mutating func remove(_ block: BlockID) {
        guard let key = keys.removeValue(forKey: block) else { return }
        entries[key] = nil
    }

    /// The cache is gone.
    mutating func removeAll() { self = HitIndex(entriesMax: entriesMax) }

    private mutating func makeRoom() {
        while entries.count > entriesMax, let oldest = order.popFirst() {
            guard let entry = entries[oldest.key], entry.serial == oldest.serial else { continue }
            remove(entry.reference.block)
        }
        guard order.count > 2 * entries.count + 64 else { return }
        order.keep { [entries] in entries[$0.key]?.serial == $0.serial }
    }
}
