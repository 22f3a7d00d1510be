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

/// What memory answers of names that stand for several caches (SEMANTICS §5.16).
///
/// What the highest cache has in memory is the answer. Of a lower one that is known only after the
/// cache process looked in vain higher up, or where the policy takes it from any of them.
struct CompositeHits: Sendable {
    private var layout = CacheLayout()
    /// Where the cache process found them, by the texts of the composite caches.
    private var found: [String: HitIndex.Place] = [:]
    private let entriesMax: Int

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    /// Whether there are no such names.
    var isEmpty: Bool { layout.isEmpty }

    /// Whether others hold the cache of a text.
    func isForeign(_ text: String) -> Bool { layout.isForeign(text) }

    /// Names stand for other caches from now on.
    mutating func adopt(_ layout: CacheLayout) {
        self.layout = layout
        forgetAll()
    }

    /// The entry that answers a text, and whether it does for as long as it is there.
    func entry(
        for text: String, in index: borrowing HitIndex, at now: Instant
    ) -> (entry: HitIndex.Entry, lasts: Bool)? {
        guard let composite = layout.composite(ofStored: text) else { return nil }
        let names = layout.queried(composite)
        // An external cache that comes first is asked.
        guard !layout.isHeldByOthers(names[0]) else { return nil }
        let first = CacheKey.moved(text, to: names[0])
        if let entry = index.entry(for: first, at: now) { return (entry, true) }
        if composite.policy(.query) == .concurrent {
            for name in names.dropFirst() where !layout.isHeldByOthers(name) {
                let text = CacheKey.moved(text, to: name)
                if let entry = index.entry(for: text, at: now) { return (entry, false) }
            }
        }
        return found[text].flatMap { index.entry($0, at: now) }.map { ($0, false) }
    }

    /// The cache process found what a text names, after both tiers of every higher cache were
    /// asked. Forgets all when full: what is in use comes back at once. Where others hold one of
    /// them, that is asked each time: what it has changes behind our back.
    mutating func learn(_ text: String, _ place: HitIndex.Place) {
        guard let composite = layout.composite(ofStored: text),
            !composite.caches(for: .query).contains(where: layout.isHeldByOthers)
        else { return }
        if found.count >= entriesMax { forgetAll() }
        found[text] = place
    }

    /// A text was stored: what was found lower may not be the answer any more.
    mutating func stored(_ text: String) {
        guard !found.isEmpty else { return }
        for related in layout.related(toStored: text) { found[related] = nil }
    }

    /// Nothing that was found counts any more.
    mutating func forgetAll() { found.removeAll(keepingCapacity: true) }
}

/// What origins said as they confirmed what the cache keeps. It is newer than what is kept there,
/// and holds for all results of one original.
///
/// Soft and bounded: what is forgotten costs another question to the origin.
struct Confirmations: Sendable {
    private struct Kept: Hashable {
        /// The plain text of the original.
        let text: String
        let mark: BodyMark
    }

    private let entriesMax: Int
    private var entries: [Kept: Confirmation] = [:]

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    var count: Int { entries.count }

    /// The newest one counts. Forgets all when full: what is in use comes back at once.
    mutating func learn(_ text: String, _ mark: BodyMark, _ said: Confirmation) {
        let kept = Kept(text: text, mark: mark)
        let earlier = entries[kept]
        if earlier == nil, entries.count >= entriesMax {
            entries.removeAll(keepingCapacity: true)
        }
        entries[kept] = earlier.map { said.after($0) } ?? said
    }

    /// What the origin says of caching an image of such an original that is kept with these words,
    /// at a moment in milliseconds since 1970.
    func caching(
        _ kept: OriginCaching?, of text: String, _ mark: BodyMark, at now: Int64
    ) -> OriginCaching? {
        guard !entries.isEmpty, let said = entries[Kept(text: text, mark: mark)] else {
            return kept
        }
        let renewed = said.renewed(kept)
        // What was stored since is newer, unless only the clock of that time was ahead.
        if let kept, kept.age.isKnown(at: now),
            kept.age.bornMilliseconds > renewed.age.bornMilliseconds
        {
            return kept
        }
        return renewed
    }
}

/// The header fields on which answers depend, by the plain text of their original, as far as
/// origins have said so.
///
/// Soft and bounded: what is forgotten is learned again, at worst after a miss.
struct VarianceTable: Sendable {
    private let keysMax: Int
    private var fields: [String: [String]] = [:]

    init(keysMax: Int) { self.keysMax = keysMax }

    var isEmpty: Bool { fields.isEmpty }
    var count: Int { fields.count }

    /// Names of header fields whose values are part of the key.
    subscript(key: String) -> [String]? { fields[key] }

    /// The newest answer counts. Forgets all when full: what is in use comes back at once.
    mutating func learn(_ key: String, _ names: [String]?) {
        guard fields[key] != names else { return }
        if names != nil, fields.count >= keysMax { fields.removeAll(keepingCapacity: true) }
        fields[key] = names
    }
}
