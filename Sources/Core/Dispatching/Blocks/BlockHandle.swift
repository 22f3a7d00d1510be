package import Messages

/// Names a block among all workers: its number counts within the session of its producer.
package struct BlockHandle: Hashable, Sendable {
    package let worker: WorkerID
    package let block: BlockID

    package init(worker: WorkerID, block: BlockID) {
        self.worker = worker
        self.block = block
    }
}
