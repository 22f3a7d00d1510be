import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// A hit ends a request before it has cost anything.
extension Scheduler {
    /// The answer of memory, if the request may be answered from there. It counts as a hit, and as
    /// used.
    mutating func takeHit(
        _ terms: LoadTerms, _ plan: JobPlan, _ names: RequestNames
    ) -> (entry: HitIndex.Entry, block: BlockHandle)? {
        guard plan.mayComeFromMemory, let cache, let entry = hits.entry(for: names.result, at: now),
            !plan.respectsCacheControl || isFresh(entry, terms, names)
        else { return nil }
        figures.counters.memoryHits += 1
        hits.touch(entry.reference.block, at: now)
        return (entry, BlockHandle(worker: cache, block: entry.reference.block))
    }
}
