/// What a place has to show or to do next. Changes come in the order in which they are to be seen.
public enum SlotChange<Placeholder: Sendable>: Sendable {
    /// What stands for the image; `nil`: the place is empty.
    case placeholder(Placeholder?)
    /// An image. `isPartial`: of what has arrived so far, or a cached one that is being refreshed;
    /// another one may follow. `wantsTransition`: the place may move from the old picture to this
    /// one, since it came late enough for somebody to see the old one. It is always false in slots
    /// without transitions.
    case image(ImageResponse, isPartial: Bool, wantsTransition: Bool)
    /// A sign that a load runs is to be seen, or not any more.
    case indicator(isRunning: Bool)
    /// For the indicator, where progress was asked for.
    case progress(SlotProgress)
}
