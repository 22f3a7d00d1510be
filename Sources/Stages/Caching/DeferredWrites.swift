internal import Messages
internal import XXHash

/// A body on its way to the disk.
struct PendingWrite: Sendable {
    let number: UInt64
    let key: String
    let body: Body
    var metadata: StoredMetadata
    /// When it was stored.
    let stored: UnixTime

    /// What it counts against the bound: its bytes and the fixed cost of an entry.
    var charge: Int {
        Self.charge(key: key, length: body.length, partBytes: metadata.partBytes)
    }

    static func charge(key: String, length: Int, partBytes: Int) -> Int {
        length + key.utf8.count + MemoryTier.overhead + partBytes
    }

    /// For the thread that writes it; the body lives as long as this write.
    var diskWrite: DiskWrite {
        DiskWrite(key: key, body: body.bytes, metadata: metadata, stored: stored)
    }
}

/// Bodies that wait for the disk, bounded in bytes. It answers queries: what was stored is found
/// from that moment on, before the disk has it. One group of writes is under way at a time; those
/// that come meanwhile are the next group.
struct WriteBehind {
    /// Writes in one group at most, and their bytes: hits wait until a group is written.
    static let groupMax = 16
    static let groupBytesMax = 1 << 20

    /// The bound, bytes.
    let bytesMax: Int
    /// What waits or is under way, bytes.
    private(set) var bytes = 0
    /// Writes that found no room.
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

    /// Takes a body in; `nil` where there is no room, which is counted. One of the same key that
    /// has not begun is left out: `replaced` is its number.
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

    /// The newest body of a key that waits or is under way.
    func write(of key: String) -> PendingWrite? { latest[key] }

    /// The next ones to write, in their order, each of another key; none where some are under way.
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

    /// The writes under way have ended.
    mutating func finish() {
        for write in underway {
            bytes -= write.charge
            if latest[write.key]?.number == write.number { latest[write.key] = nil }
        }
        underway = []
    }

    /// Forgets a key: what waits is not written, what is under way answers no more. The number of
    /// the write that was left out.
    mutating func remove(_ key: String) -> UInt64? {
        defer { latest[key] = nil }
        return dropQueued(key)
    }

    /// What the origin says of caching holds for what waits under a key, if that is of the same
    /// bytes.
    mutating func renew(_ key: String, _ renewal: Validity) {
        latest[key]?.metadata.renew(renewal)
        if let place = queued(key) { queue[place].metadata.renew(renewal) }
    }

    /// Forgets all keys; the numbers of the writes that were left out.
    mutating func removeAll() -> [UInt64] {
        let numbers = queue.map(\.number)
        for write in queue { bytes -= write.charge }
        queue = []
        latest = [:]
        return numbers
    }

    /// Forgets the keys of writes that are meant, in the same way.
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

    /// Where a key waits; the table says without a search for most keys that it does not.
    private func queued(_ key: String) -> Int? {
        guard latest[key] != nil else { return nil }
        return queue.firstIndex { $0.key == key }
    }
}

/// What is kept from the disk until it is asked for again (SEMANTICS §5.12, `disk-first-use`):
/// which keys were asked for lately, and what memory has that the disk has not.
struct FirstUses {
    /// What the disk gets once it is used.
    struct Withheld {
        let key: String
        let body: Body
        var metadata: StoredMetadata
        let stored: UnixTime
    }

    /// Keys that are remembered at least: they take 2 MiB.
    static let keysMax = 1 << 20

    // Made when it is first asked: most caches need none.
    private var asked: RecentKeys?
    private var withheld: [BlockID: Withheld] = [:]

    /// Notes that a key is asked for; whether it was before.
    mutating func note(_ key: String) -> Bool {
        var asked = asked.take() ?? RecentKeys(capacity: Self.keysMax)
        defer { self.asked = asked }
        return asked.note(XXH3.hash64(Array(key.utf8).span.bytes))
    }

    /// Memory has an entry that the disk has not.
    mutating func withhold(
        _ key: String, _ body: Body, _ metadata: StoredMetadata, _ now: UnixTime
    ) {
        withheld[body.reference.block] = Withheld(
            key: key, body: body, metadata: metadata, stored: now)
    }

    /// Hands out what a block has that the disk has not.
    mutating func take(_ block: BlockID) -> Withheld? {
        withheld.isEmpty ? nil : withheld.removeValue(forKey: block)
    }

    /// What the origin says of caching holds for what is withheld of a key, if that is of the same
    /// bytes.
    mutating func renew(_ key: String, _ renewal: Validity) {
        for (block, entry) in withheld where entry.key == key {
            withheld[block]?.metadata.renew(renewal)
        }
    }

    /// The block left memory.
    mutating func forget(_ block: BlockID) {
        if !withheld.isEmpty { withheld[block] = nil }
    }

    /// These keys are not to come to the disk.
    mutating func forget(_ matches: (String, _ tags: [String]?) -> Bool) {
        withheld = withheld.filter { !matches($0.value.key, $0.value.metadata.tags) }
    }
}

// What is asked for once need not be written to the disk.
extension CacheStage {
    /// Keeps what is asked for the first time from the disk, where the policy wants that. Who waits
    /// for the disk has it written.
    func withhold(_ work: StoreWork, _ plan: inout StorePlan) {
        guard plan.toDisk, let key = plan.key, !policy(of: key).writesFirstUse else { return }
        let isKnown = firstUses.note(key)
        guard !isKnown, !work.waitsForDisk else { return }
        plan.toDisk = false
        plan.isWithheld = true
        plan.skipped.append("disk: it is asked for the first time")
    }

    /// Notes that the disk was asked for a key, and had it.
    func noteAsked(_ key: String) {
        if !policy(of: key).writesFirstUse { _ = firstUses.note(key) }
    }

    /// An entry of memory was used: the disk gets it now, where it was kept from there.
    func writeWithheld(_ block: BlockID) {
        guard !isDiskAway, let entry = firstUses.take(block), usesDisk(entry.key) else { return }
        let added = writeBehind.add(
            key: entry.key, body: entry.body, metadata: entry.metadata, stored: entry.stored)
        // What is there of an older value is replaced.
        if added != nil { outdated.remove(entry.key) }
    }
}
