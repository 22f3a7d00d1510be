internal import ImageModel
internal import Messages

/// A job about the same key in several caches: they have their turns one after the other.
struct CacheRound {
    /// What is done, without the caches that are still to come.
    enum Work {
        case query(QueryWork)
        case store(StoreWork)
        case entry(EntryWork)
    }

    let job: CacheJob
    let work: Work
    /// The texts of the key in the caches that are still to come.
    private(set) var left: ArraySlice<String>
    private var turns = 0
    /// What the stores so far came to.
    private var stored = StoreReport(delivered: nil, tiers: .none)
    /// What the removals so far came to.
    private var tiers = CacheTypes.none
    private var failure: ImageError?

    /// `nil` where the job is about one cache. The round begins with the first of `left`.
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

    /// The caches in their order.
    private static func texts(_ key: String, _ caches: [String]) -> ArraySlice<String> {
        ([key] + caches.map { CacheKey.moved(key, to: $0) })[...]
    }

    /// Whether the caches that are still to come are not asked any more.
    mutating func isOver(with result: JobResult) -> Bool {
        switch (work, result) {
        case (.query, .miss): return left.isEmpty
        case (.entry(let entry), .entry(let more)) where entry.action == .contains:
            return left.isEmpty || !more.isEmpty
        case (.entry, .entry(let more)): tiers.formUnion(more)
        case (.entry(let entry), .failed(let error)) where entry.action != .contains:
            // The others lose it all the same.
            failure = error
        case (.store, .stored(let report)): stored.take(in: report)
        case (.store, .failed(let error)) where turns > 1:
            stored.take(in: StoreReport(delivered: nil, tiers: .none, skipped: error.message))
        default: return true
        }
        return left.isEmpty
    }

    /// The text of the key in the next cache, which has its turn now.
    mutating func next() -> String? {
        turns += 1
        return left.popFirst()
    }

    /// The answer of the job, where that was the last cache.
    func answer(_ last: JobResult) -> JobResult {
        switch (work, last) {
        case (.store, .stored): .stored(stored)
        case (.store, .failed) where turns > 1: .stored(stored)
        case (.entry(let entry), .entry), (.entry(let entry), .failed):
            entry.action == .contains ? last : failure.map { .failed($0) } ?? .entry(tiers)
        default: last
        }
    }

    /// Forgets caches in which the key is not to be stored any more.
    mutating func leaveOut(_ matches: (String, _ tags: [String]?) -> Bool) {
        guard case .store(let store) = work else { return }
        left.removeAll { matches($0, store.metadata.tags) }
    }
}

extension StoreReport {
    /// What a store in a further cache came to.
    fileprivate mutating func take(in other: StoreReport) {
        delivered = delivered ?? other.delivered
        tiers.formUnion(other.tiers)
        let reasons = [skipped, other.skipped].compactMap { $0 }
        skipped = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension ArraySlice {
    /// Those that are meant before all others; else in their order.
    fileprivate func first(_ isMeant: (Element) -> Bool) -> ArraySlice {
        (filter(isMeant) + filter { !isMeant($0) })[...]
    }
}

// Jobs about several caches (SEMANTICS §5.16).
extension CacheStage {
    /// Begins a job about several caches; false where it is about one.
    func beginRound(_ job: CacheJob, _ work: JobWork, _ now: UnixTime) -> Bool {
        let round = CacheRound(job, work) { memory.contains($0, now: now) }
        guard let round else { return false }
        rounds[job.id] = round
        nextTurn(of: job.id, now)
        return true
    }

    /// One of the caches has had its turn; false where the job is about that alone.
    func endedTurn(_ job: CacheJob, _ result: JobResult) -> Bool {
        guard !rounds.isEmpty, rounds[job.id] != nil else { return false }
        turnsEnded.append((job.id, result))
        return true
    }

    /// The next caches have their turns.
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

    /// Whether a cache that does not have a key is not the last one that is asked.
    func hasMoreTurns(_ job: CacheJob) -> Bool { rounds[job.id]?.left.isEmpty == false }

    /// The job is answered without its further caches.
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
            // What was delivered once is not delivered again.
            work.delivers = work.delivers && text == work.key
            work.key = text
            store(round.job, work, now)
        case .entry(var work):
            work.key = text
            attendSeveral(round.job, to: work, now)
        }
    }
}
