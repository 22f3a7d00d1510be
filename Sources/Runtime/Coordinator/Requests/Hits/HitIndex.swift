import Model

/// The coordinator's view of the cache's memory tier: soft state of bounded size that suffices to
/// answer a hit without asking the cache.
struct HitIndex: Sendable {
    /// One entry of the memory tier.
    struct Entry: Sendable {
        let reference: BlockReference
        let info: ImageInfo
        let expiry: Instant?
        /// Information from the origin's response, if any.
        let origin: OriginRecord?
        /// Unique among all entries ever created.
        fileprivate let serial: UInt64

        /// Identifies the entry for `isLive`.
        var place: Place { Place(block: reference.block, serial: serial, expiry: expiry) }
    }

    /// Stored by reference because it is larger than the rest of the entry.
    final class OriginRecord: Sendable {
        let validity: Validity?
        let digest: ContentDigest?

        /// Returns `nil` if the notice has neither.
        init?(_ notice: StoredNotice) {
            guard notice.validity != nil || notice.digest != nil else { return nil }
            (validity, digest) = (notice.validity, notice.digest)
        }
    }

    /// Identifies one entry, and no later entry of the same key or block.
    struct Place: Hashable, Sendable {
        let block: BlockID
        fileprivate let serial: UInt64
        let expiry: Instant?
    }

    private let entriesMax: Int
    private var entries: [String: Entry] = [:]
    /// The entry of each block.
    private var blocks: [BlockID: Age] = [:]
    private var order = Deque<Age>()
    private var serial: UInt64 = 0

    private struct Age {
        let serial: UInt64
        let key: String
    }

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    var count: Int { entries.count }

    /// The entry of a key unless it has expired.
    func entry(for key: String, at now: Instant) -> Entry? {
        guard let entry = entries[key] else { return nil }
        if let expiry = entry.expiry, expiry <= now { return nil }
        return entry
    }

    /// Whether that entry still exists and has not expired, so that `entry(for:at:)` would return
    /// it.
    func isLive(_ place: Place, at now: Instant) -> Bool {
        guard blocks[place.block]?.serial == place.serial else { return false }
        return place.expiry.map { $0 > now } ?? true
    }

    /// The entry if it is live.
    func entry(_ place: Place, at now: Instant) -> Entry? {
        guard isLive(place, at: now) else { return nil }
        return blocks[place.block].flatMap { entries[$0.key] }
    }

    /// The block of a key, even if the entry has expired.
    func block(of key: String) -> BlockID? { entries[key]?.reference.block }

    /// The entry of a block, if any.
    func entry(in block: BlockID) -> Entry? { blocks[block].flatMap { entries[$0.key] } }

    /// Inserts an entry. Neither the key nor the block may have one.
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

    /// Returns the block of the oldest entry if the index is over its limit; the caller must remove
    /// the entry.
    mutating func surplus() -> BlockID? {
        while entries.count > entriesMax, let oldest = order.popFirst() {
            guard let entry = entries[oldest.key], entry.serial == oldest.serial else { continue }
            return entry.reference.block
        }
        forgetAges()
        return nil
    }

    /// Removes the entry of a block, if any.
    mutating func remove(_ block: BlockID) {
        guard let age = blocks.removeValue(forKey: block) else { return }
        entries[age.key] = nil
    }

    /// Removes the entry of a key, if any.
    mutating func remove(key: String) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        blocks[entry.reference.block] = nil
    }

    /// Removes all entries. Serial numbers continue, so that no earlier `Place` identifies a new
    /// entry.
    mutating func removeAll() {
        (entries, blocks, order) = ([:], [:], Deque())
    }

    private mutating func forgetAges() {
        guard order.count > 2 * entries.count + 64 else { return }
        order.keep { [entries] in entries[$0.key]?.serial == $0.serial }
    }
}

extension HitIndex.Entry {
    /// Returns the image that answers a request from this entry.
    func delivered(for image: ImageRequest, _ names: RequestNames) -> DeliveredImage {
        var delivered = DeliveredImage(
            reference: image.infoOnly ? nil : reference, info: info, cacheType: .memory,
            key: names.shownResultKey,
            storedTiers: image.options.contains(.waitStoreCache) ? .memory : nil,
            scaleFactor: image.context.scaleFactor ?? names.scaleFactor)
        delivered.digest = origin?.digest
        return delivered
    }
}

/// Memory hits of composite caches (SEMANTICS §5.16).
///
/// An entry of the first member cache in memory is the answer. An entry of a later member is known
/// to be the answer only after the cache process has queried the earlier ones without success, or
/// if the policy accepts any member.
struct CompositeHits: Sendable {
    private var layout = CacheLayout()
    /// The entries that the cache process found, by the texts of the composite caches.
    private var found: [String: HitIndex.Place] = [:]
    private let entriesMax: Int

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    /// Whether there are no composite or external caches.
    var isEmpty: Bool { layout.isEmpty }

    /// Whether the text belongs to an external cache.
    func isExternal(_ text: String) -> Bool { layout.isExternal(text) }

    mutating func adopt(_ layout: CacheLayout) {
        self.layout = layout
        forgetAll()
    }

    /// Returns the entry that answers a text, and whether it remains the answer for as long as it
    /// exists.
    func entry(
        for text: String, in index: borrowing HitIndex, at now: Instant
    ) -> (entry: HitIndex.Entry, lasts: Bool)? {
        guard let composite = layout.composite(ofStored: text) else { return nil }
        let names = layout.queried(composite)
        // If the first member is an external cache, it must be queried.
        guard !layout.isHeldExternally(names[0]) else { return nil }
        let first = CacheKey.moved(text, to: names[0])
        if let entry = index.entry(for: first, at: now) { return (entry, true) }
        if composite.policy(.query) == .concurrent {
            for name in names.dropFirst() where !layout.isHeldExternally(name) {
                let text = CacheKey.moved(text, to: name)
                if let entry = index.entry(for: text, at: now) { return (entry, false) }
            }
        }
        return found[text].flatMap { index.entry($0, at: now) }.map { ($0, false) }
    }

    /// Records what the cache process found for a text after querying both tiers of every earlier
    /// member. When full, everything is removed; entries in use are learned again at once. Nothing
    /// is recorded if a member is an external cache, which must be queried every time because its
    /// contents change without notice.
    mutating func learn(_ text: String, _ place: HitIndex.Place) {
        guard let composite = layout.composite(ofStored: text),
            !composite.caches(for: .query).contains(where: layout.isHeldExternally)
        else { return }
        if found.count >= entriesMax { forgetAll() }
        found[text] = place
    }

    /// Handles a store of a text: an entry found in a later member may no longer be the answer.
    mutating func stored(_ text: String) {
        guard !found.isEmpty else { return }
        for related in layout.related(toStored: text) { found[related] = nil }
    }

    /// Removes everything that was found.
    mutating func forgetAll() { found.removeAll(keepingCapacity: true) }
}

/// Caching information from revalidations. It is newer than the information stored in the cache and
/// applies to all results of one original.
///
/// Soft state of bounded size: a lost entry costs another revalidation.
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

    /// Records a confirmation; the newest one counts. When full, everything is removed; entries in
    /// use are learned again at once.
    mutating func learn(_ text: String, _ mark: BodyMark, _ confirmation: Confirmation) {
        let kept = Kept(text: text, mark: mark)
        let earlier = entries[kept]
        if earlier == nil, entries.count >= entriesMax {
            entries.removeAll(keepingCapacity: true)
        }
        entries[kept] = earlier.map { confirmation.after($0) } ?? confirmation
    }

    /// Returns the current caching information for an image of the given original that was stored
    /// with `kept`. `now` is in milliseconds since 1970.
    func caching(
        _ kept: OriginCaching?, of text: String, _ mark: BodyMark, at now: Int64
    ) -> OriginCaching? {
        guard !entries.isEmpty, let confirmation = entries[Kept(text: text, mark: mark)] else {
            return kept
        }
        let renewed = confirmation.renewed(kept)
        // An entry stored since then is newer, unless its time lies in the future because the clock
        // was ahead.
        if let kept, kept.age.isKnown(at: now),
            kept.age.bornMilliseconds > renewed.age.bornMilliseconds
        {
            return kept
        }
        return renewed
    }
}

/// The header fields on which responses depend, by the plain text of their original.
///
/// Soft state of bounded size: lost entries are learned again, at worst after a miss.
struct VarianceTable: Sendable {
    private let keysMax: Int
    private var fields: [String: [String]] = [:]

    init(keysMax: Int) { self.keysMax = keysMax }

    var isEmpty: Bool { fields.isEmpty }
    var count: Int { fields.count }

    /// The names of the header fields whose values are part of the key.
    subscript(key: String) -> [String]? { fields[key] }

    /// Records the fields of the newest response. When full, everything is removed; entries in use
    /// are learned again at once.
    mutating func learn(_ key: String, _ names: [String]?) {
        guard fields[key] != names else { return }
        if names != nil, fields.count >= keysMax { fields.removeAll(keepingCapacity: true) }
        fields[key] = names
    }
}
