import ImageModel

/// Where a request goes next.
enum Move: Sendable {
    /// The next of the ways that are left.
    case onward(LiveRequest.ID)
    /// All ways again: what was made for it is lost.
    case again(LiveRequest.ID)
    /// To its fallback, after this error.
    indirect case fallBack(LiveRequest.ID, ImageError)
    /// Nowhere: it will not get its overlays. `nil`: no way to one of them is left.
    indirect case giveUp(LiveRequest.ID, ImageError?)
}
