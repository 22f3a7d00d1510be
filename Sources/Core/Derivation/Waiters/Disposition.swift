package import ImageModel
package import Messages

/// What becomes of waiters whose work was torn down.
package enum Disposition: Sendable {
    /// They fail.
    case fail(ImageError)
    /// They go their next way, after work that took so long; the cache was asked for that text in
    /// vain, if it was asked.
    case onward(StageTimings, missed: String?)
    /// They begin again.
    case again
    /// They begin again through no fault of anybody.
    case afresh
    /// They have the right image already.
    case unmodified

    /// The text that the cache was asked for in vain.
    package var missedText: String? {
        if case .onward(_, let text) = self { text } else { nil }
    }
}
