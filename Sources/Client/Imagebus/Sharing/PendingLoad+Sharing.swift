import ImageModel
import Messages

extension ImageRequest {
    /// Whether a load of it may be one message with others that ask for the same at the same time.
    /// Each refresh is a question of its own to the origin, which tells two images; a load that
    /// goes on without its client is found again by its token.
    var mayBeShared: Bool { options.isDisjoint(with: [.refreshCached, .continueInBackground]) }
}

extension PendingLoad {
    /// Whether another load asks for the same, however urgently: all that is sent is the same but
    /// for token and class. Neither has a slot (`mayBeShared`).
    func asksTheSame(as other: PendingLoad) -> Bool {
        manner == other.manner
            && (image == other.image || image.differs(from: other.image, onlyIn: \.priority))
    }
}
