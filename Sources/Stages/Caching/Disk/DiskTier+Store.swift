internal import Messages
internal import XXHash

/// What became of a write to the disk tier.
enum DiskWriteResult: Hashable, Sendable {
    /// The entry is committed.
    case stored
    /// It is not there; why, for people.
    case skipped(String)
}

extension DiskTier {
    /// Stores bodies, each under its key in place of an older one, in one transaction (group
    /// commit): the entries are committed when this returns. What became of each, in their order.
    ///
    /// A body whose file cannot be written ends the group: those before it are stored, it and those
    /// behind it are not. Where the index cannot be written, none is.
    func write(_ writes: [DiskWrite], _ now: UnixTime) -> [DiskWriteResult] {
        guard isRetryDue(now) else { return writes.map { _ in .skipped(unwritable) } }
        let group = attempt(now) { (index) throws(DiskError) in try commit(writes, index) }
        guard let group else { return writes.map { _ in .skipped(unwritable) } }
        counts.bytesWritten += group.bytes
        if let failure = group.failure {
            degrade(failure, now)
        } else if group.results.contains(.stored) {
            health = .healthy
        }
        let missing = writes.count - group.results.count
        return group.results + (0..<missing).map { _ in .skipped(unwritable) }
    }

    private var unwritable: String { "disk: \(health.reason?.description ?? "not open")" }

    private func commit(
        _ writes: [DiskWrite], _ index: DiskIndex
    ) throws(DiskError) -> WriteGroup {
        var group = WriteGroup()
        do {
            try index.transaction { () throws(DiskError) in
                for write in writes where group.failure == nil {
                    try store(write, in: &group, index)
                }
            }
        } catch {
            for number in group.written { try? files.remove(number) }
            throw error
        }
        // Only now: until the commit, a process that is killed leaves the older entries.
        for number in group.replaced {
            do throws(DiskError) { try files.remove(number) } catch { group.failure = error }
        }
        return group
    }

    private func store(
        _ write: DiskWrite, in group: inout WriteGroup, _ index: DiskIndex
    ) throws(DiskError) {
        let old = try entry(write.key, index)
        let header = BodyHeader(
            key: write.key, bodyLength: write.body.count, checksum: XXH3.hash64(write.body),
            created: old?.created ?? write.stored, stored: write.stored, metadata: write.metadata)
        guard let head = header.encoded() else {
            return group.results.append(.skipped("disk: metadata over its limit"))
        }
        let charge = Self.charge(
            key: write.key, bodyLength: write.body.count, headerLength: head.count,
            partBytes: write.metadata.partBytes)
        if let refusal = refusal(of: charge, write) {
            return group.results.append(.skipped(refusal))
        }
        try makeRoom(charge, write.key, index)
        let isInline = write.body.count <= Self.inlineBytesMax
        let row = IndexRow(header, number: nextNumber, fileOffset: isInline ? nil : head.count)
        nextNumber += 1
        if !isInline {
            do throws(DiskError) {
                try files.write(row.number, header: head, body: write.body)
            } catch {
                group.failure = error
                return
            }
            group.written.append(row.number)
        }
        // Looked up again: making room may have removed it.
        if let replaced = try entry(write.key, index) {
            try index.delete(replaced.number)
            if replaced.fileOffset != nil { group.replaced.append(replaced.number) }
        }
        try index.insert(row, key: write.key, charge: charge, inline: isInline ? write.body : nil)
        group.bytes += UInt64(clamping: head.count + write.body.count)
        group.results.append(.stored)
    }

    /// Why a body can never be there; `nil` where it can.
    private func refusal(of charge: Int, _ write: DiskWrite) -> String? {
        guard policy.bytesMax == 0 || charge <= policy.bytesMax else {
            return "disk: \(write.body.count) bytes are over the limit of the whole tier"
        }
        return refusal(of: charge, write.key, length: write.body.count)
    }
}

/// A body for the disk.
struct DiskWrite {
    let key: String
    /// Not changed while it is written.
    let body: UnsafeRawBufferPointer
    let metadata: StoredMetadata
    /// When it was stored.
    let stored: UnixTime
}

/// What a transaction with several bodies has come to so far.
private struct WriteGroup {
    /// Of the first ones, in their order.
    var results: [DiskWriteResult] = []
    /// The numbers of files that were written for it.
    var written: [Int64] = []
    /// The numbers of files that go when it is committed.
    var replaced: [Int64] = []
    var bytes: UInt64 = 0
    /// What ended it early.
    var failure: DiskError?
}

extension IndexRow {
    init(_ header: BodyHeader, number: Int64, fileOffset: Int?) {
        self.init(
            number: number, bodyLength: header.bodyLength, checksum: header.checksum,
            fileOffset: fileOffset, created: header.created, stored: header.stored,
            accessed: header.stored, metadata: header.metadata)
    }
}
