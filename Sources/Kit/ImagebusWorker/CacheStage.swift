import ImageModel
import Linux
import Messages
import Observability
import StageContract
import Synchronization

/// Does the jobs of a cache (PROTOCOL §8.1.2). Any thread.
struct CacheStage<Author: Cache>: Sendable {
    let cache: Author
    let log: Log
    /// Copies what lies in the segment of another process.
    let copy: @Sendable (BlockReference, UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
    let turns = CacheTurns()

    /// The turn of a job that changes something; to be taken in the order in which jobs come.
    func turn(for work: JobWork) -> CacheTurns.Turn? {
        switch work {
        case .store(let store): turns.take(store.key)
        case .entry(let entry) where [.remove, .renew].contains(entry.action):
            turns.take(entry.key)
        case .entry(let entry) where entry.action == .removeSelected: turns.take(nil)
        default: nil
        }
    }

    /// Does a job, whose turn is over with it.
    func perform(
        _ work: JobWork, _ turn: CacheTurns.Turn?, output: some OutputSpace, _ report: LoadReport
    ) throws(ImageError) -> JobResult {
        defer { turn?.end() }
        do {
            switch work {
            case .query(let query): return try find(query, output)
            case .store(let store): return .stored(try keep(store, turn, report))
            case .entry(let entry): return try attend(entry, turn, report)
            default: throw ImageError.does("is a cache")
            }
        } catch {
            throw AuthorError(error).imageError(log) { ImageError(.internalError, $0) }
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
            throw ImageError(.invalidRequest, "this worker keeps what has a key")
        }
        let data = try CacheRecord.packed(
            store.metadata, stored: now, bodyByteCount: Int(store.source.length)
        ) { target in
            try copy(store.source, target)
        }
        let expires = store.expires.map { Double($0) / 1_000 }
        try turn?.wait(report.check)
        // What was removed meanwhile stays away.
        try report.check()
        guard try cache.put(key, data, expires: expires) else {
            return StoreReport(
                delivered: nil, tiers: [], skipped: "the cache does not keep it")
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
            // What was removed meanwhile is not confirmed.
            try report.check()
            return .entry(try renew(entry.key, entry.renewal, now) ? .disk : [])
        case .removeSelected:
            try turn?.wait(report.check)
            let removal = SelectedRemoval(cache: cache, work: entry, now: now)
            return .entries(try removal.run(check: report.check))
        default:
            throw ImageError(
                .notSupported,
                "this cache looks for entries and removes them, and nothing else")
        }
    }

    /// Milliseconds since 1970.
    private var now: UInt64 { UInt64(clamping: WallClock.nanoseconds() / 1_000_000) }
}

// What a cache knows of the freshness of its entries beside their own records (SEMANTICS §6.7). An
// entry is never written again when its origin has confirmed it: that could bring back what was
// removed meanwhile, or replace what is newer. The words of the origin are a small record under a
// key of their own, which counts only beside an entry of the same bytes. The form is that of
// `Examples/Python/imagebus_worker/validity.py`.
extension CacheStage {
    /// What is known of an entry: the later one of two words of its origin counts.
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

    /// Whether there is an entry of those bytes, which is confirmed now. A later word of the origin
    /// stays.
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

/// The key of what confirms an entry: no stored text ends like it.
enum ValidityKey {
    private static let end = Unicode.Scalar(0x1D as UInt8)

    /// Of the entry under a key.
    static func of(_ key: String) -> String { key + String(end) }

    /// The key of the entry; `nil` where it is one itself.
    static func entry(of key: String) -> String? {
        key.unicodeScalars.last == end ? String(key.unicodeScalars.dropLast()) : nil
    }
}

extension StoredMetadata {
    /// When what the origin says of caching was said; -1: never.
    fileprivate var bornMilliseconds: Int64 { caching?.age.bornMilliseconds ?? -1 }

    fileprivate func isOfSameBytes(as validity: Validity) -> Bool {
        etag == validity.etag && lastModified == validity.lastModified
    }
}

/// Who changes what a cache has under a key, one after the other, in the order in which the jobs
/// came; or who changes all keys. So what was removed is not put back by a store from before.
final class CacheTurns: Sendable {
    private struct Place {
        let number: UInt64
        /// `nil`: all keys.
        let key: String?
        var bell: Bell?
    }

    private struct Line {
        var places: [Place] = []
        var last: UInt64 = 0

        /// Whether nobody before it changes the same.
        func isFirst(_ index: Int) -> Bool {
            let key = places[index].key
            return !places[..<index].contains { key == nil || $0.key == nil || $0.key == key }
        }

        func index(_ number: UInt64) -> Int? { places.firstIndex { $0.number == number } }
    }

    /// What somebody waits for.
    private final class Bell: Sendable {
        let event: EventDescriptor
        init() throws(Errno) { event = try EventDescriptor() }
    }

    /// A place in the line, until its end or its last reference goes.
    final class Turn: Sendable {
        private let turns: CacheTurns
        private let number: UInt64

        fileprivate init(_ turns: CacheTurns, _ number: UInt64) {
            (self.turns, self.number) = (turns, number)
        }

        deinit { end() }

        /// Returns once those before it have ended. Throws what `check` throws, which is asked now
        /// and then: whoever is not wanted any more waits for nobody.
        func wait(_ check: () throws -> Void = {}) throws { try turns.wait(number, check) }

        /// Lets those behind it go on.
        func end() { turns.leave(number) }
    }

    private let line = Mutex(Line())

    /// The next place for a key; for all of them without one.
    func take(_ key: String?) -> Turn {
        let number = line.withLock { line in
            line.last += 1
            line.places.append(Place(number: line.last, key: key))
            return line.last
        }
        return Turn(self, number)
    }

    /// How many wait.
    var waitingCount: Int {
        line.withLock { line in line.places.count { $0.bell != nil } }
    }

    private func wait(_ number: UInt64, _ check: () throws -> Void) throws {
        if line.withLock({ line in line.index(number).map(line.isFirst) ?? true }) { return }
        let bell = try Bell()
        let isFirst = line.withLock { line in
            guard let index = line.index(number), !line.isFirst(index) else { return true }
            line.places[index].bell = bell
            return false
        }
        // Once it is the first it stays so: only those before it count.
        guard !isFirst else { return }
        let pause = Self.checkMilliseconds
        while try !bell.event.descriptor.wait(for: .readable, milliseconds: pause) { try check() }
    }

    /// Milliseconds between two looks of one who waits.
    private static let checkMilliseconds = 100

    private func leave(_ number: UInt64) {
        let bells = line.withLock { line in
            if let index = line.index(number) { line.places.remove(at: index) }
            var bells: [Bell] = []
            for index in line.places.indices where line.isFirst(index) {
                if let bell = line.places[index].bell { bells.append(bell) }
                line.places[index].bell = nil
            }
            return bells
        }
        for bell in bells { bell.event.signal() }
    }
}

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
