import ImageModel
import Messages

/// Jobs whose pool has workers with room, and none of these can do them: they stand aside, so that
/// they keep nobody else waiting. Those that need the same are together.
struct UnmetJobs: Sendable {
    /// What jobs need of the workers of a pool.
    struct Group: Hashable, Sendable {
        let pool: PoolID
        let needs: JobNeeds
    }

    private var groups: [Group: Set<JobID>] = [:]
    /// Pools in which a worker has come, or has more room than before.
    private var stirred: Set<PoolID> = []

    var isEmpty: Bool { groups.isEmpty }

    func contains(_ job: JobID, in group: Group) -> Bool { groups[group]?.contains(job) == true }

    /// Jobs that stand aside in a pool.
    func count(in pool: PoolID) -> Int {
        groups.reduce(0) { $0 + ($1.key.pool == pool ? $1.value.count : 0) }
    }

    mutating func insert(_ job: JobID, in group: Group) { groups[group, default: []].insert(job) }

    mutating func remove(_ job: JobID, from group: Group) {
        groups[group]?.remove(job)
        if groups[group]?.isEmpty == true { groups[group] = nil }
    }

    /// A worker of the pool may be able to do what others could not.
    mutating func stir(_ pool: PoolID) { if !groups.isEmpty { stirred.insert(pool) } }

    /// Nobody in the pool can do any of them now.
    mutating func calm(_ pool: PoolID) { stirred.remove(pool) }

    func isStirred(_ pool: PoolID) -> Bool { stirred.contains(pool) }

    /// What a worker of the pool can do among them, the most urgent job first, and of equals the
    /// one that was wanted first.
    func first(
        for worker: LiveWorker, _ priority: (JobID) -> Priority
    ) -> (job: JobID, group: Group)? {
        var best: (job: JobID, group: Group, priority: Priority)?
        for (group, jobs) in groups
        where group.pool == worker.pool && group.needs.areMet(by: worker.capabilities) {
            for job in jobs {
                let own = priority(job)
                let isBetter = best.map { own == $0.priority ? job < $0.job : own > $0.priority }
                if isBetter ?? true { best = (job, group, own) }
            }
        }
        return best.map { ($0.job, $0.group) }
    }
}
