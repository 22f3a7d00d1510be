internal import Model
internal import XXHash

/// A body queued for the disk.
struct PendingWrite: Sendable {
    let number: UInt64
    let key: String
    let body: Body
    var metadata: StoredMetadata
    let stored: UnixTime

    /// Its share of the queue's limit: its bytes and the fixed cost of an entry.
    var charge: Int {
        Self.charge(key: key, length: body.length, partBytes: metadata.partBytes)
    }

    static func charge(key: String, length: Int, partBytes: Int) -> Int {
        length + key.utf8.count + MemoryTier.overhead + partBytes
    }

    /// The write for the disk thread; valid while this value exists, which owns the body.
    var diskWrite: DiskWrite {
        DiskWrite(key: key, body: body.bytes, metadata: metadata, stored: stored)
    }
}

/// The queue of bodies for the disk, limited in bytes. It answers queries, so stored entries are
/// found before they are on disk. One group of writes is in progress at a time; later writes form
/// the next group.
struct WriteBehind {
    /// The maximum number of writes in a group, and of their bytes: hits wait until a group is
    /// written.
    static let groupMax = 16
    static let groupBytesMax = 1 << 20

    let bytesMax: Int
    /// Bytes queued or in progress.
    private(set) var bytes = 0
    /// The number of writes that exceeded the limit.
    private(set) var skipped: UInt64 = 0

    private var queue: [PendingWrite] = []
    private var underway: [PendingWrite] = []
    private var latest: [String: PendingWrite] = [:]
    private var nextNumber: UInt64 = 1

    init(bytesMax: Int) { self.bytesMax = max(0, bytesMax) }

    var isEmpty: Bool { queue.isEmpty && underway.isEmpty }

    var count: Int { queue.count + underway.count }

    /// Whether a body of that length with so many bytes of tags and extended data would find room;
    /// counted as skipped if it would not.
    mutating func hasRoom(key: String, length: Int, partBytes: Int) -> Bool {
        let charge = PendingWrite.charge(key: key, length: length, partBytes: partBytes)
        // One that waits for the same key would make way.
        let freed = queued(key).map { queue[$0].charge } ?? 0
        guard bytes - freed + charge <= bytesMax else {
            skipped += 1
            return false
        }
        return true
    }

    /// Queues a body; returns `nil` and counts it if it doesn't fit. Replaces a write of the same
    /// key that has not begun, whose number is returned in `replaced`.
    mutating func add(
        key: String, body: Body, metadata: StoredMetadata, stored: UnixTime
    ) -> (number: UInt64, replaced: UInt64?)? {
        guard hasRoom(key: key, length: body.length, partBytes: metadata.partBytes)
        else { return nil }
        let replaced = dropQueued(key)
        let write = PendingWrite(
            number: nextNumber, key: key, body: body, metadata: metadata, stored: stored)
        nextNumber += 1
        queue.append(write)
        latest[key] = write
        bytes += write.charge
        return (write.number, replaced)
    }

    /// Returns the newest body of a key that is queued or in progress.
    func write(of key: String) -> PendingWrite? { latest[key] }

    /// Returns the next group of writes in order, each with another key; empty while a group is in
    /// progress.
    mutating func next() -> [PendingWrite] {
        guard underway.isEmpty, !queue.isEmpty else { return [] }
        var length = 0
        let count = queue.prefix(Self.groupMax).prefix { write in
            length += write.body.length
            return length <= Self.groupBytesMax
        }.count
        underway = Array(queue.prefix(max(1, count)))
        queue.removeFirst(underway.count)
        return underway
    }

    /// Ends the group in progress.
    mutating func finish() {
        for write in underway {
            bytes -= write.charge
            if latest[write.key]?.number == write.number { latest[write.key] = nil }
        }
        underway = []
    }

    /// Removes a key: a queued write is dropped and its number returned, and one in progress no
    /// longer answers queries.
    mutating func remove(_ key: String) -> UInt64? {
        defer { latest[key] = nil }
        return dropQueued(key)
    }

    /// Applies the origin's new caching information to a queued write, if its bytes are the same.
    mutating func renew(_ key: String, _ renewal: Validity) {
        latest[key]?.metadata.renew(renewal)
        if let place = queued(key) { queue[place].metadata.renew(renewal) }
    }

    /// Removes all keys; returns the numbers of the dropped writes.
    mutating func removeAll() -> [UInt64] {
        remove(where: { _ in true }).map(\.number)
    }

    /// Removes matching writes in the same way.
    mutating func remove(where isMeant: (PendingWrite) -> Bool) -> [PendingWrite] {
        let gone = queue.filter(isMeant)
        queue.removeAll(where: isMeant)
        for write in gone { bytes -= write.charge }
        latest = latest.filter { !isMeant($0.value) }
        return gone
    }

    private mutating func dropQueued(_ key: String) -> UInt64? {
        guard let index = queued(key) else { return nil }
        let write = queue.remove(at: index)
        bytes -= write.charge
        return write.number
    }

    /// Returns the index of a key's queued write; for most keys, the table shows without a search
    /// that there is none.
    private func queued(_ key: String) -> Int? {
        guard latest[key] != nil else { return nil }
        return queue.firstIndex { $0.key == key }
    }
}

/// Withholds entries from the disk until they are requested again (SEMANTICS §5.12,
/// `disk-first-use`): tracks recently requested keys, and entries that are in memory but not on
/// disk.
struct FirstUses {
    /// An entry that is written to disk once it is used.
    struct Withheld {
        let key: String
        let body: Body
        var metadata: StoredMetadata
        let stored: UnixTime
    }

    /// The minimum number of remembered keys; they take 2 MiB.
    static let keysMax = 1 << 20

    // Created on first use, because most caches don't need it.
    private var asked: RecentKeys?
    private var withheld: [BlockID: Withheld] = [:]

    /// Records a request for a key and returns whether it was requested before.
    mutating func note(_ key: String) -> Bool {
        var asked = asked.take() ?? RecentKeys(capacity: Self.keysMax)
        defer { self.asked = asked }
        return asked.note(XXH3.hash64(Array(key.utf8).span.bytes))
    }

    /// Records an entry that is in memory but not on disk.
    mutating func withhold(
        _ key: String, _ body: Body, _ metadata: StoredMetadata, _ now: UnixTime
    ) {
        withheld[body.reference.block] = Withheld(
            key: key, body: body, metadata: metadata, stored: now)
    }

    /// Removes and returns the withheld entry of a block.
    mutating func remove(_ block: BlockID) -> Withheld? {
        withheld.isEmpty ? nil : withheld.removeValue(forKey: block)
    }

    /// Applies the origin's new caching information to the withheld entry of a key, if its bytes
    /// are the same.
    mutating func renew(_ key: String, _ renewal: Validity) {
        for (block, entry) in withheld where entry.key == key {
            withheld[block]?.metadata.renew(renewal)
        }
    }

    /// Removes the withheld entry of a block that left memory.
    mutating func forget(_ block: BlockID) {
        if !withheld.isEmpty { withheld[block] = nil }
    }

    /// Removes withheld entries with matching keys.
    mutating func forget(_ matches: (String, _ tags: [String]?) -> Bool) {
        withheld = withheld.filter { !matches($0.value.key, $0.value.metadata.tags) }
    }
}

// Entries requested only once need not be written to the disk.
extension CacheStage {
    /// Withholds a first-time entry from the disk if the policy requires it. If the job waits for
    /// the disk, it is written.
    func withhold(_ work: StoreWork, _ plan: inout StorePlan) {
        guard plan.toDisk, let key = plan.key, !policy(of: key).writesFirstUse else { return }
        let isKnown = firstUses.note(key)
        guard !isKnown, !work.waitsForDisk else { return }
        plan.toDisk = false
        plan.isWithheld = true
        plan.skipped.append("disk: first use")
    }

    /// Records that a key was requested and found on the disk.
    func noteAsked(_ key: String) {
        if !policy(of: key).writesFirstUse { _ = firstUses.note(key) }
    }

    /// Writes an entry to the disk, if it was withheld, because it was used again.
    func writeWithheld(_ block: BlockID) {
        guard !isDiskAway, let entry = firstUses.remove(block), usesDisk(entry.key) else { return }
        let added = writeBehind.add(
            key: entry.key, body: entry.body, metadata: entry.metadata, stored: entry.stored)
        // The write replaces an older value.
        if added != nil { outdated.remove(entry.key) }
    }
}
