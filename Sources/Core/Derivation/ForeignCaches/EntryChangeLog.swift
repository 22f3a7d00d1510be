import ImageModel
import Messages
import Tables

/// Stores and removals of cache entries that are under way, and the latest ones that have ended.
///
/// What an external cache answered may be older than such a change, so a hit is promoted only if
/// nothing has changed under its key since the query began (SEMANTICS §5.26).
///
///     query begins ──► position ──► … changes … ──► permits(…, since: position)
struct EntryChangeLog: Sendable {
    private enum Change: Sendable {
        /// Stores under these keys, without the names of their caches.
        case stores(String)
        case removes(EntryWork)
    }

    /// Changes that have ended.
    private(set) var position: UInt64 = 0
    private var underWay: [JobID: Change] = [:]
    /// How many stores of a key are under way.
    private var storing: [String: Int] = [:]
    /// The position of the last store of a key, as far as it is still known.
    private var stored: [String: UInt64] = [:]
    private var storedOrder = Fifo<(key: String, position: UInt64)>()
    private var removed: [(work: EntryWork, position: UInt64)] = []
    /// Changes up to this position may have been forgotten.
    private var forgotten: UInt64 = 0

    /// Ended stores and removals that are remembered at most. Beyond that, hits of queries that
    /// began earlier are not promoted: the next ones are.
    static let storesMax = 4_096
    static let removalsMax = 256

    /// Whether nothing is under way.
    var isQuiet: Bool { underWay.isEmpty && storing.isEmpty }

    /// A job of the cache was given out; others than stores and removals are ignored.
    mutating func began(_ job: JobID, _ work: JobWork) {
        switch work {
        case .store(let store):
            guard let key = store.key.map(Self.bare) else { return }
            underWay[job] = .stores(key)
            storing[key, default: 0] += 1
        case .entry(let entry) where entry.action.removes: underWay[job] = .removes(entry)
        case .query, .entry, .fetch, .decode, .transform, .paint: break
        }
    }

    /// A job has ended, or nobody waits for it any more; unknown ones are ignored.
    mutating func ended(_ job: JobID) {
        guard let change = underWay.removeValue(forKey: job) else { return }
        position += 1
        switch change {
        case .stores(let key):
            storing[key] = storing[key].flatMap { $0 > 1 ? $0 - 1 : nil }
            stored[key] = position
            storedOrder.append((key, position))
            while storedOrder.count > Self.storesMax, let oldest = storedOrder.popFirst() {
                if stored[oldest.key] == oldest.position { stored[oldest.key] = nil }
                forgotten = max(forgotten, oldest.position)
            }
        case .removes(let work):
            removed.append((work, position))
            if removed.count > Self.removalsMax {
                forgotten = max(forgotten, removed.removeFirst().position)
            }
        }
    }

    /// Caches are arranged differently from now on: what began before is not promoted.
    mutating func restart() {
        position += 1
        (stored, storedOrder, removed, forgotten) = ([:], Fifo(), [], position)
    }

    /// Whether a hit of a query that began at this position is still what its key has.
    func permits(_ promotion: Promotion) -> Bool {
        let key = Self.bare(promotion.text)
        return promotion.since >= forgotten && storing[key] == nil
            && stored[key] ?? 0 <= promotion.since
            && !removed.contains {
                $0.position > promotion.since && promotion.isVoided(by: $0.work)
            }
            && !underWay.values.contains { change in
                if case .removes(let work) = change { promotion.isVoided(by: work) } else { false }
            }
    }

    /// The key in the default cache: a store in any cache may replace what another one has.
    private static func bare(_ text: String) -> String { CacheKey.moved(text, to: "") }
}
