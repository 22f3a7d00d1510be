import ImageModel

/// What is known of a source before all of its bytes have come.
struct EarlyBytes: Sendable {
    /// Whether anybody wants to look at what has arrived.
    var isWanted = false
    /// Whether work on what has arrived crashed or hung a worker: nothing more is tried before the
    /// whole is here.
    var isGivenUp = false
    /// When it is looked at again.
    var pace = PartialPace()
    /// What the header says; the number of frames is that of those which have come. It never
    /// becomes less.
    private(set) var info: ImageInfo?

    /// A decoder has read the header; whether that is news. What a transfer that began anew has
    /// fewer frames of is none.
    mutating func learn(_ new: ImageInfo) -> Bool {
        guard info != new, new.pages >= info?.pages ?? 0 else { return false }
        info = new
        return true
    }
}
