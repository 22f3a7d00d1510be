import ImageModel
import Messages

@testable import Admission
@testable import Derivation
@testable import Dispatching

extension Scheduler {
    /// A block of the worker that is in use.
    func liveBlock(of worker: WorkerID) -> BlockID? {
        let blocks =
            deriver.sources.ids.compactMap { deriver.sources[$0].kept?.block }
            + deriver.results.ids.compactMap { deriver.results[$0].product?.block }
        return blocks.first { $0.worker == worker && deriver.dispatcher.ledger.isLive($0) }?.block
    }
}
