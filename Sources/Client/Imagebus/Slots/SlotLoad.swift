import ImageModel

/// One load of a slot, as far as what is shown depends on it.
struct SlotLoad<Placeholder: Sendable>: Sendable {
    let key: String
    let url: String
    let placeholder: Placeholder?
    /// Those of views; the rest is the coordinator's.
    let options: RequestOptions
    /// The cached image of a load that is refreshed was shown.
    var hasShownCached = false
    /// What to tell when the transition to its image is over (`waitTransition`).
    var pending: SlotAnswer?

    /// Options that only a slot knows about: the same image is at hand with and without them.
    static var viewOptions: RequestOptions {
        [
            .delayPlaceholder, .avoidAutoSetImage, .forceTransition, .avoidAutoCancelImage,
            .waitTransition,
        ]
    }

    /// By SDWebImage's rule: what was fetched, and what a disk had and came late.
    func wantsTransition(to response: ImageResponse, isAsynchronous: Bool) -> Bool {
        if options.contains(.forceTransition) { return true }
        if response.cacheType == .none { return true }
        return response.cacheType == .disk && isAsynchronous
    }
}
