import Dispatching
import ImageModel
import Messages

// Removals from external caches in steps (SEMANTICS §5.26): each is a job of its own, so that
// others are served in between, and nobody waits longer for one than for any removal.
extension Deriver {
    /// Notes a step of a removal, and begins the next one; `false` where the part has ended.
    mutating func goOn(with part: CachePart, after result: JobResult, of id: JobID) -> Bool {
        guard case .entries(let page) = result, case .foreign(let cache, let name, let work) = part,
            case .entry(var entry) = work, entry.inSteps
        else { return false }
        errands[id]?.removals[name, default: StepwiseRemoval()].add(page)
        guard page.isUnfinished else { return true }
        tellProgress(of: id)
        let steps = errands[id]?.removals[name]?.steps ?? 0
        guard page.next != entry.after, steps < StepwiseRemoval.stepsMax else {
            failRemoval(part, name, of: id)
            return true
        }
        entry.after = page.next
        start(.foreign(cache, name: name, .entry(entry)), of: id)
        return true
    }

    /// Tells an operator who waits how far a removal is.
    private mutating func tellProgress(of id: JobID) {
        guard case .inquiry? = purposes[id], let page = errands[id]?.progress else { return }
        tell(.answered(id, .progress(page)))
    }

    private mutating func failRemoval(_ part: CachePart, _ name: String, of id: JobID) {
        let error = ImageError(
            .internalError, "the cache '\(name)' failed: its removal does not come to an end")
        noteFailure(part, error, of: id)
    }
}
