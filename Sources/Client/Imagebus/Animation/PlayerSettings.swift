public import Animation

extension AnimationPlayer {
    /// How an animation is played.
    public struct Settings: Hashable, Sendable {
        /// The order of the frames.
        public var mode = PlaybackMode.normal
        /// How fast: 2 halves every duration. Nothing moves at 0 or less.
        public var rate = 1.0
        /// How often all frames are shown, 0: without end; `nil`: as the image says.
        public var loops: Int?
        /// Whether frames whose time is over are left out, so that the animation keeps its pace. If
        /// not, each is shown, however late, as SDWebImage does.
        public var skipsLateFrames = true
        /// Bytes of frames that are held. The frame that is seen is always held.
        public var budget = FrameBudget.automatic
        /// Frames that are loaded before they are seen, as far as the budget has room: 0 to
        /// `framesAheadMax`.
        public var framesAhead = 2
        /// Whether `stop` lets go of all frames.
        public var clearsBufferWhenStopped = false

        /// What `framesAhead` is at most.
        public static let framesAheadMax = 64

        /// What SDWebImage's player does, but for `skipsLateFrames`.
        public init() {}
    }
}
