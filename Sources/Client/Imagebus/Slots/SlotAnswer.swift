public import ImageModel

/// What a load in a slot tells its caller: the end, once, and under `avoidAutoSetImage` before it
/// the images that the slot would have shown.
public struct SlotAnswer: Sendable {
    /// An image, a miss, or why there is none. `cancelled` where a newer load took the slot.
    public let result: Result<ImageResponse, ImageError>
    /// Whether this is the end: nothing is told of the load after it.
    public let isFinished: Bool
    /// Whether it came in a later turn than `load`, so that who looks may have seen what was there
    /// before.
    public let isAsynchronous: Bool
    /// Whether a transition is in place: always under `forceTransition`, else for what was fetched,
    /// and for what a disk had.
    public let wantsTransition: Bool

    /// The tier that had the image; none for what was fetched, for a miss and for a failure.
    public var cacheType: CacheTypes { (try? result.get())?.cacheType ?? .none }
}
