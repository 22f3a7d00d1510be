import ImageModel
import Messages

@testable import Dispatching
@testable import Scheduling

extension Scheduler {
    /// A block of the worker that is in use.
    func liveBlock(of worker: WorkerID) -> BlockID? {
        let blocks =
            sources.ids.compactMap { sources[$0].kept?.block }
            + results.ids.compactMap { results[$0].product?.block }
        return blocks.first { $0.worker == worker && dispatcher.ledger.isLive($0) }?.block
    }
}
