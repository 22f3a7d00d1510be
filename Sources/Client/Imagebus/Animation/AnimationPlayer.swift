import Linux
public import Model
import Synchronization

/// Plays an animation at the pace of the caller's clock; it has no clock or timer of its own. It
/// holds frames within a byte budget and loads upcoming frames ahead of time. Can be used from any
/// thread.
///
///     let player = AnimationPlayer(image)
///     player.play()
///     while player.playbackState == .playing {
///         draw(try await player.frame(at: elapsed))
///         wait(player.untilNextFrame ?? .zero)
///     }
///
/// A frame is not loaded again while it is held or being loaded. A load that is no longer needed is
/// canceled unless another player of the same image waits for it. Players of one image share its
/// preloaded frames and the loads in flight. Players of different images of the same request share
/// only what the stack shares: its caches and the work on identical results.
public final class AnimationPlayer: Sendable {
    /// The animation being played.
    public let image: AnimatedImage
    /// The largest number of concurrent loads of upcoming frames.
    static let loadsMax = 4

    struct State {
        var playback: Playback
        var buffer: FrameBuffer<AnimationFrame>
        /// Loads this player takes part in, by frame.
        var loads: [Int: FrameLoad] = [:]
        /// Why frames failed to load. A failed frame is not loaded again until its error has been
        /// thrown to a caller.
        var failures: [Int: ImageError] = [:]
        /// The caller's time at the most recent frame.
        var time: Duration?
    }

    let state: Mutex<State>
    let settings: Settings

    /// Creates a stopped player. Nothing is loaded before `play` is called or a frame is requested.
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
        let loads = state.withLock { Array($0.loads.values) }
        for load in loads { load.leave() }
    }

    /// The order of the frames. A change takes effect with the next frame.
    public var mode: PlaybackMode {
        get { state.withLock { $0.playback.mode } }
        set { change { $0.playback.mode = newValue } }
    }

    /// The playback speed: 2 halves every duration. 0 or less stops playback.
    public var rate: Double {
        get { state.withLock { $0.playback.rate } }
        set { state.withLock { $0.playback.rate = newValue } }
    }

    /// How often all frames are shown; 0 means endless.
    public var loops: Int {
        get { state.withLock { $0.playback.loops } }
        set { state.withLock { $0.playback.loops = newValue } }
    }

    /// The index of the current frame, which may not be loaded yet.
    public var index: Int { state.withLock { $0.playback.index } }

    /// The number of completed loops.
    public var loop: Int { state.withLock { $0.playback.loop } }

    /// Whether the player is playing, paused, stopped or at the end.
    public var playbackState: Playback.State { state.withLock { $0.playback.state } }

    /// The time until the next frame is due on the caller's clock, or `nil` if the player is not
    /// advancing.
    public var untilNextFrame: Duration? {
        state.withLock { $0.playback.untilNext.map { .microseconds($0) } }
    }

    /// Starts or resumes playback, or restarts it after the end. The first time passed to
    /// `frame(at:)` afterwards counts as the time of the current frame.
    public func play() {
        change { state in
            state.playback.play()
            state.time = nil
        }
    }

    /// Pauses playback at the current frame. Buffered frames are kept.
    public func pause() { state.withLock { $0.playback.pause() } }

    /// Stops playback and returns to the first frame and loop. Buffered frames are kept unless
    /// `clearsBufferWhenStopped` is set; then they are released, and their loads are canceled.
    public func stop() {
        state.withLock { $0.playback.stop() }
        if settings.clearsBufferWhenStopped { clearBuffer() }
    }

    /// Moves to a frame in a loop and begins to load it immediately. Loads that are not needed from
    /// there are canceled. Has no effect if there is no such frame.
    public func seek(to index: Int, loop: Int = 0) {
        change { $0.playback.seek(to: index, loop: loop) }
    }

    /// Releases all buffered frames and cancels all loads. Frames requested afterwards are loaded
    /// again.
    public func clearBuffer() {
        state.withLock { state in
            for index in state.buffer.clear() { leave(index, &state) }
            state.failures = [:]
        }
    }

    /// The indexes of buffered frames in file order, not counting frames that the image has
    /// preloaded.
    public var bufferedFrames: [Int] { state.withLock { $0.buffer.indices } }

    /// The total size of the buffered frames, in bytes.
    public var bufferedBytes: Int { state.withLock { $0.buffer.bytes } }

    /// The error of the current frame's load, or `nil` if it succeeded or is still in flight.
    /// `frame` throws the error once; after that the frame is loaded again.
    public var failure: ImageError? { state.withLock { $0.failures[$0.playback.index] } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            refill(&state)
        }
    }
}

// Advancing time and returning frames.
extension AnimationPlayer {
    /// The longest time step that counts at once: one hour.
    private static let longest = Duration.seconds(3_600)

    /// Advances by a duration and returns the playback events. Never waits. If the current frame is
    /// not loaded yet, playback stays at it and no time is counted. If late frames are skipped, the
    /// frames in between need not be loaded.
    public func advance(by time: Duration) -> [Playback.Event] {
        state.withLock { state in
            defer { refill(&state) }
            guard isReady(state.playback.index, state) else { return [] }
            var ahead = state.playback
            let events = ahead.advance(by: Self.microseconds(time))
            if isReady(ahead.index, state) {
                state.playback = ahead
                return events
            }
            let held = state
            return state.playback.advance(by: Self.microseconds(time)) { isReady($0, held) }
        }
    }

    /// Returns the frame for a time of the caller's clock, which must not go backwards; waits until
    /// it is loaded. Time counts from the first call after `play`, and only while playing.
    ///
    /// Throws the error of the frame's load, and `cancelled` if the awaiting task is canceled.
    public func frame(at time: Duration) async throws(ImageError) -> AnimationFrame {
        state.withLock { state in
            if state.playback.state == .playing, let last = state.time, time > last {
                _ = state.playback.advance(by: Self.microseconds(time - last))
            }
            state.time = max(time, state.time ?? time)
        }
        return try await frame()
    }

    /// Returns the current frame; waits until it is loaded. Throws like `frame(at:)`.
    public func frame() async throws(ImageError) -> AnimationFrame {
        while true {
            switch try look() {
            case .again: continue
            case .frame(let frame): return frame
            case .load(let load):
                let ended = await withTaskCancellationHandler {
                    await load.work.value
                } onCancel: {
                    abandon(load)
                }
                settle(load, ended)
                if Task.isCancelled { throw ImageError(.cancelled, "cancelled") }
            }
        }
    }

    /// The current frame, or `nil` if it is not loaded.
    public var bufferedFrame: AnimationFrame? {
        state.withLock { held($0.playback.index, $0) }
    }

    private enum Look {
        case frame(AnimationFrame)
        case load(FrameLoad)
        /// The image has released the frame in the meantime.
        case again
    }

    private func look() throws(ImageError) -> Look {
        let look: Result<Look, ImageError> = state.withLock { state in
            let index = state.playback.index
            if let failure = state.failures.removeValue(forKey: index) { return .failure(failure) }
            refill(&state)
            if let frame = held(index, state) { return .success(.frame(frame)) }
            return .success(state.loads[index].map { .load($0) } ?? .again)
        }
        return try look.get()
    }

    private static func microseconds(_ time: Duration) -> Int {
        let parts = min(max(.zero, time), longest).components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}

// Loading and releasing frames according to the buffer.
extension AnimationPlayer {
    /// Returns a frame that is buffered or preloaded.
    func held(_ index: Int, _ state: borrowing State) -> AnimationFrame? {
        state.buffer[index] ?? image.preloaded(index)
    }

    func isReady(_ index: Int, _ state: borrowing State) -> Bool { held(index, state) != nil }

    /// Begins the loads that the buffer needs and cancels the others.
    func refill(_ state: inout State) {
        let playback = state.playback
        let seen = playback.index
        // Frames that the image holds or that failed are not loaded.
        guard image.preloaded(seen) == nil, state.failures[seen] == nil else { return }
        let commands = state.buffer.want(seen, then: ahead(playback, state)) {
            playback.steps(to: $0)
        }
        for index in commands.cancels { leave(index, &state) }
        for index in commands.loads { begin(index, &state) }
    }

    /// Returns the frames to load ahead of time, the next one first; empty if the player is stopped
    /// or finished.
    private func ahead(_ playback: Playback, _ state: borrowing State) -> [Int] {
        guard playback.state == .playing || playback.state == .paused else { return [] }
        let most = min(max(0, settings.framesAhead), Settings.framesAheadMax)
        let failures = state.failures
        return playback.upcoming(most).filter {
            image.preloaded($0) == nil && failures[$0] == nil
        }
    }

    private func begin(_ index: Int, _ state: inout State) {
        let load = image.begin(index)
        state.loads[index] = load
        Task.detached { [weak self] in
            let ended = await load.work.value
            self?.settle(load, ended)
        }
    }

    /// Gives up this player's share in a load.
    func leave(_ index: Int, _ state: inout State) {
        state.loads.removeValue(forKey: index)?.leave()
    }

    /// Handles the cancellation of the task that waited for a load.
    func abandon(_ load: FrameLoad) {
        state.withLock { state in
            guard state.loads[load.index] === load else { return }
            state.buffer.giveUp(load.index)
            leave(load.index, &state)
        }
    }

    /// Records the result of a load. Any task that observes the result may call it; only the first
    /// call counts.
    func settle(_ load: FrameLoad, _ ended: FrameLoad.Ended) {
        state.withLock { state in
            guard state.loads[load.index] === load else { return }
            state.loads[load.index] = nil
            let playback = state.playback
            switch ended {
            case .success(let frame):
                state.buffer.store(frame, bytes: frame.memoryCost, at: load.index) {
                    playback.steps(to: $0)
                }
            case .failure(let error):
                state.buffer.giveUp(load.index)
                state.failures[load.index] = error
            }
            if playback.state == .playing { refill(&state) }
        }
    }
}

extension AnimationPlayer {
    /// The settings of a player.
    public struct Settings: Hashable, Sendable {
        /// The order of the frames.
        public var mode = PlaybackMode.normal
        /// The playback speed: 2 halves every duration. 0 or less stops playback.
        public var rate = 1.0
        /// How often all frames are shown; 0 means endless, `nil` uses the image's own value.
        public var loops: Int?
        /// Whether overdue frames are skipped so that the animation stays on schedule. If false,
        /// every frame is shown, however late, as in SDWebImage.
        public var skipsLateFrames = true
        /// The budget for buffered frames. The current frame is always kept.
        public var budget = FrameBudget.automatic
        /// The number of frames to load ahead, within the budget: 0 to `framesAheadMax`.
        public var framesAhead = 2
        /// Whether `stop` releases all buffered frames.
        public var clearsBufferWhenStopped = false

        /// The largest value of `framesAhead`.
        public static let framesAheadMax = 64

        /// Creates settings equivalent to SDWebImage's player, except for `skipsLateFrames`.
        public init() {}
    }
}

/// The memory budget for buffered frames.
public enum FrameBudget: Hashable, Sendable {
    /// SDWebImage's rule: a fifth of the memory of the machine or its control group, but at most
    /// three fifths of the free memory. Limited to `automaticBytesMax`, because a server plays more
    /// than one animation.
    case automatic
    /// Only the current frame.
    case least
    /// At most this many bytes.
    case bytes(Int)
    /// All frames, without a limit.
    case all

    /// The upper limit of `automatic`: 256 MiB.
    public static let automaticBytesMax = 256 << 20

    /// The budget in bytes, given the memory currently available.
    var bytes: Int { bytes(of: .now()) }

    func bytes(of supply: MemorySupply) -> Int {
        switch self {
        case .automatic: Self.automatic(supply)
        case .least: 0
        case .bytes(let bytes): max(0, bytes)
        case .all: .max
        }
    }

    /// Values that the kernel doesn't report impose no limit.
    private static func automatic(_ supply: MemorySupply) -> Int {
        let limit = supply.limitBytes
        let left = limit.map { max(0, $0 - (supply.usedBytes ?? 0)) }
        let total = [supply.totalBytes, limit].compactMap { $0.map { $0 / 5 } }
        let free = [supply.availableBytes, left].compactMap { $0.map { $0 / 5 * 3 } }
        return (total + free).reduce(automaticBytesMax, min)
    }
}
