import Derivation
import Dispatching
import ImageModel
import Messages

/// Why remembered answers do not stand any more. An answer that expires needs no such event: it
/// carries the moment until which it stands.
enum Withdrawal: Sendable {
    /// The cache no longer holds the key of the block, which was evicted or removed.
    case evicted(BlockHandle)
    /// The block holds another key from now on.
    case reused(BlockID)
    /// The key lies in another block from now on: made again, refreshed, or put by an operator.
    case replaced(String)
    /// There were too many entries, and this one was the oldest.
    case crowdedOut(BlockID)
    /// The cache is gone, and its segments with it.
    case cacheGone(WorkerID)
    /// A source is refused from now on: its answers fall, but not other answers of the same
    /// entries.
    case denied(Denial)
    /// The header fields that the answer under a plain text depends on have changed.
    case varies(plainOriginal: String, [String]?)
    /// An origin confirmed what is kept under a plain text, and said until when.
    case confirmed(plainOriginal: String, BodyMark, Confirmation)
    /// A load may mean something else now: the configuration or a secret has changed.
    case reconfigured
    /// Nothing is admitted any more.
    case drained
}
