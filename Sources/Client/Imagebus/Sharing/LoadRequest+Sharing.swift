import ImageModel
import Messages

extension LoadRequest {
    /// Whether a load may be one message with others that ask for the same at the same time.
    ///
    /// One in a slot cancels the others of it; one with a trace is to be found in logs by itself;
    /// one that brings its bytes along has no URL by which they could be told apart; one that goes
    /// on without its client is found again by its token; and each refresh is a question of its own
    /// to the origin, which tells two images.
    var mayBeShared: Bool {
        slot == nil && trace == nil && uploadBytes == 0 && !detach && !wantsPieces
            && staleRetries == 0
            && image.options.isDisjoint(with: [.refreshCached, .continueInBackground])
    }

    /// Of what usually differs: the rest is compared.
    var sharingHash: Int {
        var hasher = Hasher()
        hasher.combine(image.url)
        hasher.combine(image.steps)
        hasher.combine(image.output.format)
        return hasher.finalize()
    }

    /// Whether another load asks for the same, however urgently: all that is sent is the same but
    /// for token and class.
    func asksTheSame(as other: LoadRequest) -> Bool {
        if saysTheSame(as: other) { return true }
        guard image.priority != other.image.priority else { return false }
        var equal = other
        equal.image.priority = image.priority
        return saysTheSame(as: equal)
    }
}
