internal import ImageModel
internal import Messages

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
