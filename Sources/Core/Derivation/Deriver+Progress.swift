import Dispatching
import ImageModel
import Messages
import Tables

// Waiters are told how far their transfer is.
extension Deriver {
    /// Tells those of the source's waiters that want to know how far it is, and what its header
    /// says, as far as that is known.
    mutating func tellProgress(_ progress: JobProgress, of node: SourceNode.ID) {
        let info = sources[node].early.info
        let told = waiters(of: node).filter { !$0.wishes.isDisjoint(with: [.progress, .info]) }
        tell(told) { .progressed(Transfer(source: node), progress, info, $0) }
    }
}
