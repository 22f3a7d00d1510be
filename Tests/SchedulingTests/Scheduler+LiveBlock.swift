import Model

@testable import Coordinator

extension Scheduler {
    /// A block of the worker that is in use.
    func liveBlock(of worker: WorkerID) -> BlockID? {
        let blocks =
            workGraph.sources.ids.compactMap { workGraph.sources[$0].kept?.block }
            + workGraph.results.ids.compactMap { workGraph.results[$0].product?.block }
        return blocks.first { $0.worker == worker && workGraph.dispatcher.ledger.isLive($0) }?.block
    }
}
