import ImageModel
import Messages

/// A load as it was sent before, without its token, and what it was last answered with: one that is
/// loaded again and again is written once, and its hits are read once.
final class RememberedLoad {
    private let hash: Int
    private let image: ImageRequest
    private let slot: String?
    private let manner: LoadManner
    private let millisecondsLeft: Int
    /// The body behind the token.
    let rest: [UInt8]
    /// The answer of memory that it had last.
    var answer: ReplyMemo.Answer?

    init(_ load: PendingLoad, rest: [UInt8]) {
        (hash, image, slot, manner) = (load.hash, load.image, load.slot, load.manner)
        (millisecondsLeft, self.rest) = (load.millisecondsLeft, rest)
    }

    /// Whether the load is sent as this one was.
    func isSent(like load: PendingLoad) -> Bool {
        hash == load.hash && millisecondsLeft == load.millisecondsLeft
            && image == load.image && slot == load.slot && manner == load.manner
    }
}
