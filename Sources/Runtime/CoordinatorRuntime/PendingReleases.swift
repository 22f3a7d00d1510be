import Messages

/// Blocks that workers may use again and were not told of yet.
///
/// A release by itself wakes a worker for nothing else, and a worker that is busy gets its next job
/// soon. So a release waits for the next message to its worker, or for a moment.
struct PendingReleases {
    /// Milliseconds for which a release waits at most.
    static let milliseconds = 50
    /// Blocks of one worker that wait at most.
    static let blocksMax = 8

    private var blocks: [WorkerID: [BlockID]] = [:]

    /// Whether none waits.
    var isEmpty: Bool { blocks.isEmpty }

    /// Workers for which some wait, in the order of their sessions.
    var workers: [WorkerID] { blocks.keys.sorted() }

    /// Adds blocks; `true` where so many of that worker wait that it has to be told.
    mutating func add(_ released: [BlockID], of worker: WorkerID) -> Bool {
        blocks[worker, default: []] += released
        return blocks[worker, default: []].count >= Self.blocksMax
    }

    /// Takes what waits for a worker; `nil` where nothing does.
    mutating func take(of worker: WorkerID) -> [BlockID]? {
        blocks.isEmpty ? nil : blocks.removeValue(forKey: worker)
    }
}
