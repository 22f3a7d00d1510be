/// How the frames of an animation are shown (SEMANTICS §11.30).
public struct AnimationFacts: Hashable, Sendable {
    /// How long each frame is shown, in microseconds; of more frames than `framesMax`, the first
    /// ones.
    public var durations: [UInt32]
    /// SDWebImage's loop count; 0: without end. Of a GIF it is the number in the file, which counts
    /// repetitions: a GIF with 2 is played three times.
    public var loops: Int
    /// How often all frames are played; 0: without end.
    public var plays: Int

    /// Takes any numbers.
    ///
    /// - Parameter plays: `nil`: as often as `loops` says.
    public init(durations: [UInt32], loops: Int, plays: Int? = nil) {
        (self.durations, self.loops, self.plays) = (durations, loops, plays ?? loops)
    }

    /// Frames whose durations are told at most.
    public static let framesMax = 16_384
}
