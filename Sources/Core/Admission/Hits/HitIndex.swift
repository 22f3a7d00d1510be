import Derivation
import ImageModel
import Messages
import Tables

/// What the cache has in memory, as far as the coordinator knows: soft, bounded, and enough to
/// answer a hit without asking.
struct HitIndex: Sendable {
    /// One entry of the memory tier.
    struct Entry: Sendable {
        let reference: BlockReference
        let info: ImageInfo
        let expiry: Instant?
        /// What is known of its origin's answer.
        let origin: OriginRecord?
        /// Counts all entries there ever were: no two have the same.
        fileprivate let serial: UInt64

        /// Names the entry for `isLive`.
        var place: Place { Place(block: reference.block, serial: serial, expiry: expiry) }
    }

    /// Behind one reference: it is longer than all the rest.
    final class OriginRecord: Sendable {
        let validity: Validity?
        let digest: ContentDigest?

        /// `nil` where nothing is known.
        init?(_ notice: StoredNotice) {
            guard notice.validity != nil || notice.digest != nil else { return nil }
            (validity, digest) = (notice.validity, notice.digest)
        }
    }

    /// Names one entry, and no later one of the same key or block.
    struct Place: Hashable, Sendable {
        let block: BlockID
        fileprivate let serial: UInt64
        let expiry: Instant?
    }

    private let entriesMax: Int
    private var entries: [String: Entry] = [:]
    /// The entry of each block.
    private var blocks: [BlockID: Age] = [:]
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

    /// Whether that entry is still there and has not expired: what `entry(for:at:)` would find.
    func isLive(_ place: Place, at now: Instant) -> Bool {
        guard blocks[place.block]?.serial == place.serial else { return false }
        return place.expiry.map { $0 > now } ?? true
    }

    /// That entry, if it is.
    func entry(_ place: Place, at now: Instant) -> Entry? {
        guard isLive(place, at: now) else { return nil }
        return blocks[place.block].flatMap { entries[$0.key] }
    }

    /// The block of a key, whether it has expired or not.
    func block(of key: String) -> BlockID? { entries[key]?.reference.block }

    /// The entry of a block, if there is one.
    func entry(in block: BlockID) -> Entry? { blocks[block].flatMap { entries[$0.key] } }

    /// Enters a key that has no entry, in a block that has none.
    mutating func insert(_ notice: StoredNotice, _ reference: BlockReference, at now: Instant) {
        serial += 1
        let expiry = notice.expiresInMilliseconds.map {
            now.adding(milliseconds: Int(clamping: $0))
        }
        entries[notice.key] = Entry(
            reference: reference, info: notice.info, expiry: expiry,
            origin: OriginRecord(notice), serial: serial)
        let age = Age(serial: serial, key: notice.key)
        blocks[reference.block] = age
        order.append(age)
    }

    /// The block of the oldest entry, where there are too many. The caller removes the entry.
    mutating func surplus() -> BlockID? {
        while entries.count > entriesMax, let oldest = order.popFirst() {
            guard let entry = entries[oldest.key], entry.serial == oldest.serial else { continue }
            return entry.reference.block
        }
        forgetAges()
        return nil
    }

    /// Removes the entry of a block, if there is one.
    mutating func remove(_ block: BlockID) {
        guard let age = blocks.removeValue(forKey: block) else { return }
        entries[age.key] = nil
    }

    /// Removes the entry of a key, if there is one.
    mutating func remove(key: String) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        blocks[entry.reference.block] = nil
    }

    /// Removes all. Serials go on, so that no place of an earlier entry names a new one.
    mutating func removeAll() {
        (entries, blocks, order) = ([:], [:], Fifo())
    }

    private mutating func forgetAges() {
        guard order.count > 2 * entries.count + 64 else { return }
        order.keep { [entries] in entries[$0.key]?.serial == $0.serial }
    }
}

extension HitIndex.Entry {
    /// What a request gets that this entry answers.
    func delivered(for image: ImageRequest, _ names: RequestNames) -> DeliveredImage {
        var delivered = DeliveredImage(
            reference: image.infoOnly ? nil : reference, info: info, cacheType: .memory,
            key: names.resultKey,
            storedTiers: image.options.contains(.waitStoreCache) ? .memory : nil,
            scaleFactor: image.context.scaleFactor ?? names.scaleFactor)
        delivered.digest = origin?.digest
        return delivered
    }
}
