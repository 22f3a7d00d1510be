import Model

/// Progress of a stepwise removal from an external cache.
struct StepwiseRemoval: Hashable, Sendable {
    private(set) var removed = EntryCount()
    /// The number of entries examined.
    private(set) var examined: UInt64 = 0
    /// The number of entries before the removal, as reported by the cache; 0 if unknown.
    private(set) var total: UInt64 = 0
    /// The number of completed steps.
    private(set) var steps = 0

    /// The number of steps after which the removal is considered endless.
    static let stepsMax = 1 << 20

    /// Returns the progress after another step.
    func adding(_ step: EntryPage) -> StepwiseRemoval {
        var next = self
        next.steps += 1
        next.removed.add(step.disk)
        next.examined = examined.addingClamped(step.examined)
        next.total = step.total == 0 ? 0 : step.total.addingClamped(next.removed.entries)
        return next
    }

    /// The estimated number of entries not examined yet; `nil` if unknown.
    var left: UInt64? { total == 0 ? nil : total > examined ? total - examined : 0 }
}

extension CompositeCacheJob {
    /// The combined progress so far.
    var progress: EntryPage {
        var page = page
        for removal in removals.values {
            page.disk.add(removal.removed)
            page.examined = page.examined.addingClamped(removal.examined)
            page.total = page.total.addingClamped(max(removal.total, removal.examined))
        }
        if removals.values.contains(where: { $0.left == nil }) { page.total = 0 }
        return page
    }

    /// Adds the progress of a stepwise removal to the error that ended it; other errors are
    /// returned unchanged.
    func stopped(_ part: CachePart, by error: ImageError) -> ImageError {
        guard case .external(_, let name, _) = part, let removal = removals[name] else {
            return error
        }
        let left = removal.left.map { "about \($0) entries" } ?? "an unknown number of entries"
        return ImageError(
            error.code,
            error.message
                + "; \(removal.removed.entries) of its entries were removed, \(left) were "
                + "not examined: repeat the command to continue"
        ) {
            $0 = error.typedDetails
            $0.removed = removal.removed.entries
            $0.left = removal.left
        }
    }
}

extension CachePart {
    /// Whether the part continues a stepwise removal.
    var isLaterStep: Bool {
        if case .entry(let work) = work { work.inSteps && work.after != 0 } else { false }
    }
}

extension EntryPage {
    /// Adds the counts and entries of another page.
    mutating func add(_ other: EntryPage) {
        entries += other.entries
        next = max(next, other.next)
        memory.add(other.memory)
        disk.add(other.disk)
    }
}

extension EntryCount {
    fileprivate mutating func add(_ other: EntryCount) {
        entries = entries.addingClamped(other.entries)
        bytes = bytes.addingClamped(other.bytes)
    }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

// Stepwise removals from external caches (SEMANTICS §5.26). Each step is a separate job, so that
// other jobs run in between and none waits longer than for any single removal.
extension WorkGraph {
    /// Records a step of a removal and starts the next one. Returns `false` if the part has ended.
    func goOn(with part: CachePart, after result: JobResult, of job: CompositeCacheJob) -> Bool {
        guard case .entries(let page) = result,
            case .external(let cache, let name, let work) = part,
            case .entry(var entry) = work, entry.inSteps
        else { return false }
        let removal = job.removals[name, default: StepwiseRemoval()].adding(page)
        job.removals[name] = removal
        guard page.next != 0 else { return true }
        // The operator who waits for the removal sees its progress.
        if case .inquiry? = purposes[job.id] { emit(.answered(job.id, .progress(job.progress))) }
        guard page.next != entry.after, removal.steps < StepwiseRemoval.stepsMax else {
            noteFailure(
                part, .internalError, "failed: its removal does not terminate", of: job)
            return true
        }
        entry.after = page.next
        start(.external(cache, name: name, .entry(entry)), of: job)
        return true
    }
}
