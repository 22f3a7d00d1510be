/// How the frames of an animation are shown (SEMANTICS §11.30).
public struct AnimationFacts: Hashable, Sendable {
    /// How long each frame is shown, in microseconds; of more frames than `framesMax`, the first
    /// ones.
    public var durations: [UInt32]
    /// How often all frames are shown; 0: without end.
    public var loops: Int

    /// Takes any numbers.
    public init(durations: [UInt32], loops: Int) {
        (self.durations, self.loops) = (durations, loops)
    }

    /// Frames whose durations are told at most.
    public static let framesMax = 16_384
}
