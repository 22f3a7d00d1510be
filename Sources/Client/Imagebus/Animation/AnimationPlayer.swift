public import Animation
public import ImageModel
import Synchronization

/// Plays an animation for somebody who has a clock: it has none, and no timer. It holds frames
/// within a budget of bytes, and loads those that come next. Any thread.
///
///     let player = AnimationPlayer(image)
///     player.play()
///     while player.playbackState == .playing {
///         draw(try await player.frame(at: elapsed))
///         wait(player.untilNextFrame ?? .zero)
///     }
///
/// No frame is loaded while it is held, and none twice at a time. A load that is not wanted any
/// more is cancelled, unless another player of the same image waits for it. Players of one image
/// share what it has preloaded and what is being loaded; players of several images of one request
/// share what the stack shares: its caches and the work on one result.
public final class AnimationPlayer: Sendable {
    /// What is played.
    public let image: AnimatedImage
    /// Loads of frames ahead at a time.
    static let loadsMax = 4

    struct State {
        var playback: Playback
        var buffer: FrameBuffer<AnimationFrame>
        /// Loads of this player by frame.
        var seats: [Int: FrameLoads.Seat] = [:]
        /// Why a frame did not come; it is not loaded again before somebody was told.
        var failures: [Int: ImageError] = [:]
        /// The caller's time at the last frame.
        var time: Duration?
    }

    let state: Mutex<State>
    let settings: Settings

    /// A player that is stopped. Nothing is loaded before `play`, or before a frame is asked for.
    public init(_ image: AnimatedImage, _ settings: Settings = Settings()) {
        self.image = image
        self.settings = settings
        let playback = Playback(
            durations: image.microseconds,
            loops: settings.loops ?? (image.isAnimated ? image.plays : 1), mode: settings.mode,
            rate: settings.rate, skipsLateFrames: settings.skipsLateFrames)
        let buffer = FrameBuffer<AnimationFrame>(
            bytesMax: settings.budget.bytes, estimate: image.estimatedFrameBytes,
            loadsMax: Self.loadsMax)
        state = Mutex(State(playback: playback, buffer: buffer))
    }

    deinit {
        let seats = state.withLock { Array($0.seats.values) }
        for seat in seats { image.loads.leave(seat) }
    }

    /// The order of the frames. A change holds from the next frame on.
    public var mode: PlaybackMode {
        get { state.withLock { $0.playback.mode } }
        set { change { $0.playback.mode = newValue } }
    }

    /// How fast: 2 halves every duration. Nothing moves at 0 or less.
    public var rate: Double {
        get { state.withLock { $0.playback.rate } }
        set { state.withLock { $0.playback.rate = newValue } }
    }

    /// How often all frames are shown, 0: without end.
    public var loops: Int {
        get { state.withLock { $0.playback.loops } }
        set { state.withLock { $0.playback.loops = newValue } }
    }

    /// The frame to be seen; it may not have come yet.
    public var index: Int { state.withLock { $0.playback.index } }

    /// Loops that have ended.
    public var loop: Int { state.withLock { $0.playback.loop } }

    /// Whether time moves it.
    public var playbackState: Playback.State { state.withLock { $0.playback.state } }

    /// In how much of the caller's time the next frame is due; `nil` where no time moves it.
    public var untilNextFrame: Duration? {
        state.withLock { $0.playback.untilNext.map { .microseconds($0) } }
    }

    /// Starts, or goes on after a pause; after the end it begins anew. The first time that
    /// `frame(at:)` names then is that of the frame where it stands.
    public func play() {
        change { state in
            state.playback.play()
            state.time = nil
        }
    }

    /// Time moves it no more. It stays where it is, and holds what it has.
    public func pause() { state.withLock { $0.playback.pause() } }

    /// Back to the first frame and loop, where it waits. Frames are still held, unless
    /// `clearsBufferWhenStopped` is set: then they go, and their loads are cancelled.
    public func stop() {
        state.withLock { $0.playback.stop() }
        if settings.clearsBufferWhenStopped { clearBuffer() }
    }

    /// Goes to that frame in that loop, which is loaded at once; loads that are not wanted from
    /// there are cancelled. Without effect for a frame that is not there.
    public func seek(to index: Int, loop: Int = 0) {
        change { $0.playback.seek(to: index, loop: loop) }
    }

    /// Lets go of all frames, and cancels all loads. What is asked for next is loaded again.
    public func clearBuffer() {
        state.withLock { state in
            for index in state.buffer.clear() { leave(index, &state) }
            state.failures = [:]
        }
    }

    /// Frames that are held, in order of the file, without what the image has preloaded.
    public var bufferedFrames: [Int] { state.withLock { $0.buffer.indices } }

    /// Bytes of these frames.
    public var bufferedBytes: Int { state.withLock { $0.buffer.bytes } }

    /// Why the frame to be seen did not come; `nil` where it did or may still. `frame` throws it
    /// once, and has it loaded again after that.
    public var failure: ImageError? { state.withLock { $0.failures[$0.playback.index] } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            refill(&state)
        }
    }
}
