import ImageModel
import Linux
import Messages
import Observability
import StageContract

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
