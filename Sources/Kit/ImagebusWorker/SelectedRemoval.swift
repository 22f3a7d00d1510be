import ImageModel
import Linux
import Messages

/// Removes the entries of a selection, in steps where the author can list keys so.
struct SelectedRemoval<Author: Cache> {
    let cache: Author
    let work: EntryWork
    /// Milliseconds since 1970.
    let now: UInt64

    /// Nanoseconds after which a step ends.
    private static var stepNanoseconds: UInt64 { 100_000_000 }
    /// Keys that are looked at together.
    private static var batchCount: Int { 256 }

    /// Removes all of it, or does a step: then `next` says where the next one begins. `check`
    /// throws where nobody wants it any more.
    func run(check: () throws -> Void) throws -> EntryPage {
        var page = EntryPage()
        let end = MonotonicClock.now() + Self.stepNanoseconds
        var after = work.after
        while let (keys, next) = try cache.scan(after: after) {
            try remove(keys, &page)
            if next == 0 || (work.inSteps && MonotonicClock.now() >= end) {
                page.next = next
                page.total = UInt64(clamping: try cache.count() ?? 0)
                return page
            }
            after = next
            try check()
        }
        return try runWithoutSteps()
    }

    private func runWithoutSteps() throws -> EntryPage {
        var page = EntryPage()
        guard let keys = try cache.keys() else {
            guard work.selection.meansWholeCaches else {
                throw ImageError(.notSupported, "this cache removes one key or all of them")
            }
            try cache.clear()
            return page
        }
        try remove(keys, &page)
        page.total = page.examined - page.disk.entries
        return page
    }

    private func remove(_ keys: [String], _ page: inout EntryPage) throws {
        for start in stride(from: 0, to: keys.count, by: Self.batchCount) {
            let batch = keys[start..<min(start + Self.batchCount, keys.count)]
            var gone = try meantEntries(batch.filter { ValidityKey.entry(of: $0) == nil }, &page)
            // What only confirms an entry goes by the text of that.
            if !work.selection.asksRecord {
                gone += batch.compactMap(ValidityKey.entry)
                    .filter { work.selection.matches($0, tags: nil) }
            }
            let all = Set(gone).flatMap { [$0, ValidityKey.of($0)] }
            if !all.isEmpty { try cache.remove(all) }
        }
    }

    private func meantEntries(_ keys: [String], _ page: inout EntryPage) throws -> [String] {
        page.examined += UInt64(keys.count)
        let meant = keys.filter { work.selection.matches($0, tags: nil) }
        guard work.selection.asksRecord else {
            for _ in meant { page.disk.add(0) }
            return meant
        }
        let heads = try cache.peek(meant, length: CacheRecord.peekByteCount)
        var gone: [String] = []
        for (key, head) in zip(meant, heads) {
            guard let head else { continue }
            // What cannot be read is gone at the next look in any case.
            if let record = try CacheRecord.read(head, of: key, in: cache),
                !work.selection.means(record, of: key, now: now)
            {
                continue
            }
            page.disk.add(head.size)
            gone.append(key)
        }
        return gone
    }
}

extension EntrySelection {
    /// Whether it says no more than of which cache.
    fileprivate var meansWholeCaches: Bool { url == nil && prefix == nil && !asksRecord }

    /// Whether the key alone does not tell.
    fileprivate var asksRecord: Bool { olderThanSeconds != nil || tag != nil }

    fileprivate func means(_ record: CacheRecord, of key: String, now: UInt64) -> Bool {
        guard matches(key, tags: record.metadata.tags) else { return false }
        guard let olderThanSeconds else { return true }
        return now >= record.stored && (now - record.stored) / 1_000 >= olderThanSeconds
    }
}
