import ImageModel
import Messages

/// How far an external cache is whose entries are removed in steps.
struct StepwiseRemoval: Hashable, Sendable {
    /// What is gone.
    private(set) var removed = EntryCount()
    /// Entries that were looked at.
    private(set) var examined: UInt64 = 0
    /// Entries of the cache before the removal, as far as it knows; 0: it does not say.
    private(set) var total: UInt64 = 0
    /// Steps that were done.
    private(set) var steps = 0

    /// Steps after which it counts as endless.
    static let stepsMax = 1 << 20

    /// A step has been done.
    mutating func add(_ step: EntryPage) {
        steps += 1
        removed.add(step.disk)
        examined = examined.addingClamped(step.examined)
        total = step.total == 0 ? 0 : step.total.addingClamped(removed.entries)
    }

    /// Entries that were not looked at, about; `nil` where nobody knows.
    var left: UInt64? { total == 0 ? nil : total > examined ? total - examined : 0 }
}

extension CacheErrand {
    /// What it has come to so far.
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

    /// Adds what is left to the error that ends a removal in steps; other errors stay as they are.
    func stopped(_ part: CachePart, by error: ImageError) -> ImageError {
        guard case .foreign(_, let name, _) = part, let removal = removals[name] else {
            return error
        }
        let left = removal.left.map { "about \($0) entries" } ?? "an unknown number of entries"
        var details = error.details
        details["removed"] = "\(removal.removed.entries)"
        details["left"] = removal.left.map { "\($0)" }
        return ImageError(
            error.code,
            error.message + "; \(removal.removed.entries) entries of it are removed, \(left) were "
                + "not examined: repeat the command to go on", details: details)
    }
}

extension CachePart {
    /// Whether it goes on with a removal in steps.
    var isLaterStep: Bool {
        if case .entry(let work) = work { work.inSteps && work.after != 0 } else { false }
    }
}

extension EntryPage {
    /// Whether it is the answer of a step after which others follow.
    var isUnfinished: Bool { next != 0 }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
