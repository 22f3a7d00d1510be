import Linux
import Model
import ProcessRuntime
import Synchronization

/// Executes the jobs of a cache (PROTOCOL §8.1.2). Can be used from any thread.
struct CacheStage<Author: Cache>: Sendable {
    let cache: Author
    let log: Log
    /// Copies a block from another process's segment.
    let copy: @Sendable (BlockReference, UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
    let turns = CacheTurns()

    /// Returns the turn of a job that modifies the cache. Must be called in the order in which jobs
    /// arrive.
    func turn(for work: JobWork) -> CacheTurns.Turn? {
        switch work {
        case .store(let store): turns.enqueue(store.key)
        case .entry(let entry) where [.remove, .renew].contains(entry.action):
            turns.enqueue(entry.key)
        case .entry(let entry) where entry.action == .removeSelected: turns.enqueue(nil)
        default: nil
        }
    }

    /// Executes a job and ends its turn.
    func perform(
        _ work: JobWork, _ turn: CacheTurns.Turn?, output: some OutputSpace, _ report: LoadReport
    ) throws(ImageError) -> JobResult {
        defer { turn?.end() }
        do {
            switch work {
            case .query(let query): return try find(query, output)
            case .store(let store): return .stored(try keep(store, turn, report))
            case .entry(let entry): return try attend(entry, turn, report)
            default: throw ImageError.does("handles cache jobs")
            }
        } catch {
            throw ImageError(of: error, log) { ImageError(.internalError, $0) }
        }
    }

    private func find(_ query: QueryWork, _ output: some OutputSpace) throws -> JobResult {
        guard let data = try cache.get(query.key), let record = try CacheRecord(data),
            !record.body.isEmpty,
            query.bytesMax == 0 || UInt64(record.body.count) <= query.bytesMax
        else { return .miss }
        let block = try output.reserve(record.body.count)
        block.bytes.copyBytes(from: data[record.body])
        return .hit(
            CacheHit(
                reference: block.reference(length: record.body.count), tier: .disk,
                metadata: record.metadata))
    }

    private func keep(
        _ store: StoreWork, _ turn: CacheTurns.Turn?, _ report: LoadReport
    ) throws -> StoreReport {
        guard let key = store.key else {
            throw ImageError(.invalidRequest, "a store requires a key")
        }
        let data = try CacheRecord.packed(
            store.metadata, stored: now, bodyByteCount: Int(store.source.length)
        ) { target in
            try copy(store.source, target)
        }
        let expires = store.expires.map { Double($0) / 1_000 }
        try turn?.wait(report.check)
        // A key removed in the meantime must stay removed.
        try report.check()
        guard try cache.put(key, data, expires: expires) else {
            return StoreReport(
                delivered: nil, tiers: [], skipped: "the cache did not store the entry")
        }
        return StoreReport(delivered: nil, tiers: .disk)
    }

    private func attend(
        _ entry: EntryWork, _ turn: CacheTurns.Turn?, _ report: LoadReport
    ) throws -> JobResult {
        switch entry.action {
        case .contains where entry.wantsValidity: return try validity(of: entry.key)
        case .contains: return .entry(try cache.contains(entry.key) ? .disk : [])
        case .remove:
            try turn?.wait(report.check)
            try cache.remove([entry.key, ValidityKey.of(entry.key)])
            return .entry(.disk)
        case .renew:
            try turn?.wait(report.check)
            // A key removed in the meantime must not be confirmed.
            try report.check()
            return .entry(try renew(entry.key, entry.renewal, now) ? .disk : [])
        case .removeSelected:
            try turn?.wait(report.check)
            let removal = SelectedRemoval(cache: cache, work: entry, now: now)
            return .entries(try removal.run(check: report.check))
        default:
            throw ImageError(
                .notSupported,
                "this cache supports only lookups and removals")
        }
    }

    /// The current time in milliseconds since 1970.
    private var now: UInt64 { UInt64(clamping: WallClock.nanoseconds() / 1_000_000) }
}

// Tracking the freshness of entries separately from their records (SEMANTICS §6.7). An entry is not
// rewritten when its origin confirms it, because that could restore a removed entry or overwrite a
// newer one. Instead, the origin's response is stored as a small confirmation record under a key of
// its own, which is valid only together with an entry of the same bytes. The format is that of
// `Examples/Python/imagebus_worker/validity.py`.
extension CacheStage {
    /// Returns the validity of an entry, from the entry or its confirmation, whichever is later.
    func validity(of key: String) throws -> JobResult {
        let (entry, confirmation) = try records(of: key)
        guard let metadata = entry?.metadata else { return .entry([]) }
        var validity = Validity(metadata)
        if let later = confirmation?.metadata, later.isOfSameBytes(as: validity),
            later.bornMilliseconds > metadata.bornMilliseconds
        {
            validity.caching = later.caching
        }
        return .validity(validity)
    }

    /// Confirms an entry if it exists and has the same bytes. Returns whether it does. A later
    /// confirmation is kept.
    func renew(_ key: String, _ renewal: Validity?, _ now: UInt64) throws -> Bool {
        let (entry, confirmation) = try records(of: key)
        guard let renewal, var metadata = entry?.metadata, metadata.isOfSameBytes(as: renewal)
        else { return false }
        metadata.caching = renewal.caching
        if let known = confirmation?.metadata, known.isOfSameBytes(as: renewal),
            known.bornMilliseconds > metadata.bornMilliseconds
        {
            return true
        }
        let expires = renewal.expiry.map { Double($0.lastUse) / 1_000 }
        try cache.extend(key, expires: expires)
        let data = try CacheRecord.packed(metadata, stored: now, bodyByteCount: 0) { _ in }
        return try cache.put(ValidityKey.of(key), data, expires: expires)
    }

    private func records(
        of key: String
    ) throws -> (entry: CacheRecord?, confirmation: CacheRecord?) {
        let keys = [key, ValidityKey.of(key)]
        let heads = try cache.peek(keys, length: CacheRecord.peekByteCount)
        guard heads.count == keys.count else { return (nil, nil) }
        let records = try zip(keys, heads).map { key, head in
            try head.flatMap { try CacheRecord.read($0, of: key, in: cache) }
        }
        return (records[0], records[1])
    }
}

/// Derives the key of a confirmation record from that of its entry. No key of an entry ends in this
/// character.
enum ValidityKey {
    private static let end = Unicode.Scalar(0x1D as UInt8)

    /// Returns the confirmation key of an entry.
    static func of(_ key: String) -> String { key + String(end) }

    /// Returns the entry's key for a confirmation key; `nil` for other keys.
    static func entry(of key: String) -> String? {
        key.unicodeScalars.last == end ? String(key.unicodeScalars.dropLast()) : nil
    }
}

extension StoredMetadata {
    /// When the caching information was generated, in milliseconds since 1970; -1 if there is none.
    fileprivate var bornMilliseconds: Int64 { caching?.age.bornMilliseconds ?? -1 }

    fileprivate func isOfSameBytes(as validity: Validity) -> Bool {
        etag == validity.etag && lastModified == validity.lastModified
    }
}

/// Serializes modifications of the same key, or of all keys, in the order in which their jobs
/// arrived, so that an earlier store can't restore a removed entry.
final class CacheTurns: Sendable {
    /// An event that happens once.
    fileprivate final class Bell: Sendable {
        let event: EventDescriptor
        init() throws(Errno) { event = try EventDescriptor() }
    }

    private struct Line {
        /// `nil` as key means all keys, `nil` as end that no later turn waits for it.
        var places: [(number: UInt64, key: String?, end: Bell?)] = []
        var last: UInt64 = 0
    }

    /// A place in the queue, held until `end` is called or the last reference is released.
    final class Turn: Sendable {
        private let turns: CacheTurns
        private let number: UInt64
        /// The ends of the turns to wait for.
        private let earlier: [Bell?]

        fileprivate init(_ turns: CacheTurns, _ number: UInt64, after earlier: [Bell?]) {
            (self.turns, self.number, self.earlier) = (turns, number, earlier)
        }

        deinit { end() }

        /// Waits for earlier turns to end. Calls `check` at intervals and rethrows its error, so
        /// that canceled jobs stop waiting.
        func wait(_ check: () throws -> Void = {}) throws {
            let milliseconds = 100
            for bell in earlier {
                guard let bell else { throw Errno.noMemory }
                while try !bell.event.descriptor.wait(for: .readable, milliseconds: milliseconds) {
                    try check()
                }
            }
        }

        /// Ends the turn and wakes those waiting for it.
        func end() { turns.leave(number) }
    }

    private let line = Mutex(Line())

    /// Returns the next turn for a key, or for all keys if `key` is `nil`.
    func enqueue(_ key: String?) -> Turn {
        line.withLock { line in
            var earlier: [Bell?] = []
            for index in line.places.indices {
                let other = line.places[index].key
                guard key == nil || other == nil || other == key else { continue }
                // Without a descriptor, only this job fails.
                if line.places[index].end == nil { line.places[index].end = try? Bell() }
                earlier.append(line.places[index].end)
            }
            line.last += 1
            line.places.append((line.last, key, nil))
            return Turn(self, line.last, after: earlier)
        }
    }

    private func leave(_ number: UInt64) {
        let end: Bell? = line.withLock { line in
            let index = line.places.firstIndex { $0.number == number }
            return index.flatMap { line.places.remove(at: $0).end }
        }
        end?.event.signal()
    }
}

/// Removes the entries of a selection, in steps if the author's cache can list keys in steps.
struct SelectedRemoval<Author: Cache> {
    let cache: Author
    let work: EntryWork
    /// The current time in milliseconds since 1970.
    let now: UInt64

    /// The duration of a step, in nanoseconds.
    private static var stepNanoseconds: UInt64 { 100_000_000 }
    /// The number of keys examined per batch.
    private static var batchCount: Int { 256 }

    /// Removes all selected entries, or those of one step; then `next` of the result is where the
    /// next step begins. `check` throws if the job was canceled.
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
                throw ImageError(
                    .notSupported,
                    "this cache supports only the removal of single keys or of all keys")
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
            // Confirmation records are selected by the key of their entry.
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
            // An unreadable entry is removed as well; it would be treated as a miss anyway.
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
    /// Whether the selection only names caches.
    fileprivate var meansWholeCaches: Bool { url == nil && prefix == nil && !asksRecord }

    /// Whether the selection depends on the record and not only on the key.
    fileprivate var asksRecord: Bool { olderThanSeconds != nil || tag != nil }

    fileprivate func means(_ record: CacheRecord, of key: String, now: UInt64) -> Bool {
        guard matches(key, tags: record.metadata.tags) else { return false }
        guard let olderThanSeconds else { return true }
        return now >= record.stored && (now - record.stored) / 1_000 >= olderThanSeconds
    }
}
