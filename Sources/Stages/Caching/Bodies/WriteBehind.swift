internal import Messages

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
        body.length + key.utf8.count + MemoryTier.overhead + metadata.partBytes
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

    /// Whether a body of that length would find room; counted as skipped where it would not.
    mutating func hasRoom(key: String, length: Int) -> Bool {
        let charge = length + key.utf8.count + MemoryTier.overhead
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
        guard hasRoom(key: key, length: body.length) else { return nil }
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
