import ImageModel
import Messages

extension ImageRequest {
    /// Whether a load of it may be one message with others that ask for the same at the same time.
    /// Each refresh is a question of its own to the origin, which tells two images; a load that
    /// goes on without its client is found again by its token.
    var mayBeShared: Bool { options.isDisjoint(with: [.refreshCached, .continueInBackground]) }

    /// Of what usually differs: the rest is compared.
    var sharingHash: Int {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(steps)
        hasher.combine(output.format)
        return hasher.finalize()
    }
}

extension LoadRequest {
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
