import Messages

/// Names a block among all workers: its number counts within the session of its producer.
struct BlockHandle: Hashable, Sendable {
    let worker: WorkerID
    let block: BlockID
}
