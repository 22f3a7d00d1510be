internal import Model

/// A job for the same key in several caches, executed for one cache after the other.
struct CacheRound {
    /// The work, without the remaining caches.
    enum Work {
        case query(QueryWork)
        case store(StoreWork)
        case entry(EntryWork)
    }

    let job: CacheJob
    let work: Work
    /// The stored key in each of the remaining caches.
    private(set) var left: ArraySlice<String>
    private var turns = 0
    /// The combined result of the stores so far.
    private var stored = StoreReport(delivered: nil, tiers: .none)
    /// The combined tiers of the removals so far.
    private var tiers = CacheTypes.none
    private var failure: ImageError?

    /// Returns `nil` if the job concerns only one cache. The round begins with the first element of
    /// `left`.
    init?(_ job: CacheJob, _ work: JobWork, hasInMemory: (String) -> Bool) {
        self.job = job
        switch work {
        case .query(var query) where !query.caches.isEmpty:
            left = Self.texts(query.key, query.caches)
            if query.memoryFirst, query.tiers.contains(.memory) { left = left.first(hasInMemory) }
            query.caches = []
            self.work = .query(query)
        case .store(var store) where !store.caches.isEmpty && store.key != nil:
            left = Self.texts(store.key ?? "", store.caches)
            store.caches = []
            self.work = .store(store)
        case .entry(var entry) where !entry.caches.isEmpty:
            left = Self.texts(entry.key, entry.caches)
            if entry.memoryFirst, entry.tiers.contains(.memory) { left = left.first(hasInMemory) }
            entry.caches = []
            self.work = .entry(entry)
        default: return nil
        }
    }

    /// Returns the stored keys in the order of the caches.
    private static func texts(_ key: String, _ caches: [String]) -> ArraySlice<String> {
        ([key] + caches.map { CacheKey.moved(key, to: $0) })[...]
    }

    /// Returns whether the result makes the remaining caches unnecessary.
    mutating func isOver(with result: JobResult) -> Bool {
        switch (work, result) {
        case (.query, .miss): return left.isEmpty
        case (.entry(let entry), .entry(let more)) where entry.action == .contains:
            return left.isEmpty || !more.isEmpty
        case (.entry, .entry(let more)): tiers.formUnion(more)
        case (.entry(let entry), .failed(let error)) where entry.action != .contains:
            // Even if one cache fails, the entry must be removed from the others.
            failure = error
        case (.store, .stored(let report)): stored.merge(report)
        case (.store, .failed(let error)) where turns > 1:
            stored.merge(StoreReport(delivered: nil, tiers: .none, skipped: error.message))
        default: return true
        }
        return left.isEmpty
    }

    /// Returns the stored key in the next cache and makes that the current one.
    mutating func next() -> String? {
        turns += 1
        return left.popFirst()
    }

    /// Returns the answer of the job after its last cache.
    func answer(_ last: JobResult) -> JobResult {
        switch (work, last) {
        case (.store, .stored): .stored(stored)
        case (.store, .failed) where turns > 1: .stored(stored)
        case (.entry(let entry), .entry), (.entry(let entry), .failed):
            entry.action == .contains ? last : failure.map { .failed($0) } ?? .entry(tiers)
        default: last
        }
    }

    /// Removes caches in which the key must not be stored any more.
    mutating func leaveOut(_ matches: (String, _ tags: [String]?) -> Bool) {
        guard case .store(let store) = work else { return }
        left.removeAll { matches($0, store.metadata.tags) }
    }
}

extension StoreReport {
    /// Merges the result of a store in another cache.
    fileprivate mutating func merge(_ other: StoreReport) {
        delivered = delivered ?? other.delivered
        tiers.formUnion(other.tiers)
        let reasons = [skipped, other.skipped].compactMap { $0 }
        skipped = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension ArraySlice {
    /// Moves matching elements to the front; the order is kept otherwise.
    fileprivate func first(_ isMeant: (Element) -> Bool) -> ArraySlice {
        (filter(isMeant) + filter { !isMeant($0) })[...]
    }
}

// Jobs for several caches (SEMANTICS §5.16).
extension CacheStage {
    /// Begins a job for several caches; returns false if it concerns only one.
    func beginRound(_ job: CacheJob, _ work: JobWork, _ now: UnixTime) -> Bool {
        let round = CacheRound(job, work) { memory.contains($0, now: now) }
        guard let round else { return false }
        rounds[job.id] = round
        nextTurn(of: job.id, now)
        return true
    }

    /// Handles the result of one cache; returns false if the job concerns only that one.
    func endedTurn(_ job: CacheJob, _ result: JobResult) -> Bool {
        guard !rounds.isEmpty, rounds[job.id] != nil else { return false }
        turnsEnded.append((job.id, result))
        return true
    }

    /// Continues rounds with their next caches.
    func goRound(_ now: UnixTime) {
        while !turnsEnded.isEmpty {
            let (id, result) = turnsEnded.removeFirst()
            guard rounds[id]?.isOver(with: result) == true else {
                nextTurn(of: id, now)
                continue
            }
            guard let round = rounds.removeValue(forKey: id) else { continue }
            answer(round.job, round.answer(result))
        }
    }

    /// Returns whether further caches are asked after a miss in the current one.
    func hasMoreTurns(_ job: CacheJob) -> Bool { rounds[job.id]?.left.isEmpty == false }

    /// Answers a job without asking its remaining caches.
    func endRound(of id: JobID) {
        rounds[id] = nil
        turnsEnded.removeAll { $0.job == id }
    }

    private func nextTurn(of id: JobID, _ now: UnixTime) {
        guard let round = rounds[id], let text = rounds[id]?.next() else { return }
        switch round.work {
        case .query(var work):
            work.key = text
            query(round.job, work, now)
        case .store(var work):
            // Only the first cache delivers.
            work.delivers = work.delivers && text == work.key
            work.key = text
            store(round.job, work, now)
        case .entry(var work):
            work.key = text
            performEntryWork(round.job, work, now)
        }
    }
}
