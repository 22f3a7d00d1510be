import ImageModel
import Imagebus

/// How the URLs of a prefetch ended, for people.
struct PrefetchSummary {
    let counts: PrefetchCounts
    let ends: PrefetchEnds

    /// URLs that were loaded anew.
    var loaded: Int {
        max(0, counts.finished - counts.skipped - Int(clamping: ends.cached) - missed)
    }

    /// URLs that no cache had, where nothing else was asked.
    var missed: Int { Int(clamping: ends.missed) }

    /// One line.
    var text: String {
        var parts = ["loaded \(loaded)", "already cached \(ends.cached)"]
        if missed > 0 { parts.append("in no cache \(missed)") }
        parts.append("failed \(counts.skipped)\(errors)")
        if counts.cancelled > 0 { parts.append("cancelled \(counts.cancelled)") }
        return parts.joined(separator: ", ") + "\n"
    }

    /// The most frequent one first.
    private var errors: String {
        guard !ends.errors.isEmpty else { return "" }
        let sorted = ends.errors.sorted {
            ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue)
        }
        let counted = sorted.map { "\($0.count) \($0.code.rule.name)" }
        return " (\(counted.joined(separator: ", ")))"
    }
}
