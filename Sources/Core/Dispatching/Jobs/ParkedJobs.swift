import Messages

/// Jobs that found no space, the first one first; some may have left.
struct ParkedJobs: Sendable {
    private(set) var ids: [JobID] = []
    /// Since when one is there without that all were tried again.
    private(set) var since: Instant?

    mutating func append(_ id: JobID, at now: Instant) {
        ids.append(id)
        since = since ?? now
    }

    /// All of them; those that stay are put back.
    mutating func takeAll() -> [JobID] {
        defer { ids.removeAll(keepingCapacity: true) }
        return ids
    }

    mutating func putBack(_ id: JobID) { ids.append(id) }

    /// Some were tried again; perhaps none is left.
    mutating func startOver() {
        if ids.isEmpty { since = nil }
    }
}
