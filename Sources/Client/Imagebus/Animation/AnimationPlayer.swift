public import Animation
public import ImageModel
import Linux
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

// Time in, frames out.
extension AnimationPlayer {
    /// The most time that counts at once: an hour.
    private static let longest = Duration.seconds(3_600)

    /// Moves by that much time, and says what happened; never waits. A frame that has not come is
    /// waited for: the frame before it stays, and no time counts. Frames in between need not have
    /// come where late frames are left out.
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

    /// The frame to be seen at a time of the caller's clock, which does not go back; waits until
    /// it has come. Time counts from the first call after `play` on, and only while it plays.
    ///
    /// Throws how its load fails, and `cancelled` where the awaiting task is.
    public func frame(at time: Duration) async throws(ImageError) -> AnimationFrame {
        state.withLock { state in
            if state.playback.state == .playing, let last = state.time, time > last {
                _ = state.playback.advance(by: Self.microseconds(time - last))
            }
            state.time = max(time, state.time ?? time)
        }
        return try await frame()
    }

    /// The frame to be seen; waits until it has come. Throws as `frame(at:)`.
    public func frame() async throws(ImageError) -> AnimationFrame {
        while true {
            switch try look() {
            case .again: continue
            case .frame(let frame): return frame
            case .load(let seat):
                let ended = await withTaskCancellationHandler {
                    await seat.work.value
                } onCancel: {
                    abandon(seat)
                }
                settle(seat, ended)
                if Task.isCancelled { throw ImageError(.cancelled, "cancelled") }
            }
        }
    }

    /// The frame to be seen, where it is held.
    public var bufferedFrame: AnimationFrame? {
        state.withLock { held($0.playback.index, $0) }
    }

    private enum Look {
        case frame(AnimationFrame)
        case load(FrameLoads.Seat)
        /// The image has let go of it meanwhile.
        case again
    }

    private func look() throws(ImageError) -> Look {
        let look: Result<Look, ImageError> = state.withLock { state in
            let index = state.playback.index
            if let failure = state.failures.removeValue(forKey: index) { return .failure(failure) }
            refill(&state)
            if let frame = held(index, state) { return .success(.frame(frame)) }
            return .success(state.seats[index].map { .load($0) } ?? .again)
        }
        return try look.get()
    }

    private static func microseconds(_ time: Duration) -> Int {
        let parts = min(max(.zero, time), longest).components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}

// What is loaded and let go of, as the buffer says.
extension AnimationPlayer {
    /// A frame that needs no load.
    func held(_ index: Int, _ state: borrowing State) -> AnimationFrame? {
        state.buffer[index] ?? image.preloaded(index)
    }

    func isReady(_ index: Int, _ state: borrowing State) -> Bool { held(index, state) != nil }

    /// Begins the loads that are wanted and cancels the others.
    func refill(_ state: inout State) {
        let playback = state.playback
        let seen = playback.index
        // What the image holds, and what failed, is not loaded.
        guard image.preloaded(seen) == nil, state.failures[seen] == nil else { return }
        let orders = state.buffer.want(seen, then: ahead(playback, state)) {
            playback.steps(to: $0)
        }
        for index in orders.cancels { leave(index, &state) }
        for index in orders.loads { begin(index, &state) }
    }

    /// Frames to be loaded before they are seen, the next one first; none where it stands still.
    private func ahead(_ playback: Playback, _ state: borrowing State) -> [Int] {
        guard playback.state == .playing || playback.state == .paused else { return [] }
        let most = min(max(0, settings.framesAhead), Settings.framesAheadMax)
        let failures = state.failures
        return playback.upcoming(most).filter {
            image.preloaded($0) == nil && failures[$0] == nil
        }
    }

    private func begin(_ index: Int, _ state: inout State) {
        let seat = image.begin(index)
        state.seats[index] = seat
        Task.detached { [weak self] in
            let ended = await seat.work.value
            self?.settle(seat, ended)
        }
    }

    /// Gives up a load of this player.
    func leave(_ index: Int, _ state: inout State) {
        if let seat = state.seats.removeValue(forKey: index) { image.loads.leave(seat) }
    }

    /// Who waited for it is gone.
    func abandon(_ seat: FrameLoads.Seat) {
        state.withLock { state in
            guard state.seats[seat.index]?.number == seat.number else { return }
            state.buffer.giveUp(seat.index)
            leave(seat.index, &state)
        }
    }

    /// A load has ended; whoever sees it first says so.
    func settle(_ seat: FrameLoads.Seat, _ ended: FrameLoads.Ended) {
        state.withLock { state in
            guard state.seats[seat.index]?.number == seat.number else { return }
            state.seats[seat.index] = nil
            let playback = state.playback
            switch ended {
            case .success(let frame):
                state.buffer.take(frame, bytes: frame.memoryCost, at: seat.index) {
                    playback.steps(to: $0)
                }
            case .failure(let error):
                state.buffer.giveUp(seat.index)
                state.failures[seat.index] = error
            }
            if playback.state == .playing { refill(&state) }
        }
    }
}

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

/// How many bytes of frames are held.
public enum FrameBudget: Hashable, Sendable {
    /// What SDWebImage's player takes, a fifth of the memory of the machine or of its control
    /// group, but no more than three fifths of what is free; at most `automaticBytesMax` of that,
    /// since a server plays more than one animation.
    case automatic
    /// The frame that is seen and no other.
    case least
    /// So many bytes.
    case bytes(Int)
    /// All frames, however large.
    case all

    /// What `automatic` is at most: 256 MiB.
    public static let automaticBytesMax = 256 << 20

    /// In bytes, with the memory that there is now.
    var bytes: Int { bytes(of: .now()) }

    func bytes(of supply: MemorySupply) -> Int {
        switch self {
        case .automatic: Self.automatic(supply)
        case .least: 0
        case .bytes(let bytes): max(0, bytes)
        case .all: .max
        }
    }

    /// What the kernel does not say limits nothing.
    private static func automatic(_ supply: MemorySupply) -> Int {
        let limit = supply.limitBytes
        let left = limit.map { max(0, $0 - (supply.usedBytes ?? 0)) }
        let total = [supply.totalBytes, limit].compactMap { $0.map { $0 / 5 } }
        let free = [supply.availableBytes, left].compactMap { $0.map { $0 / 5 * 3 } }
        return (total + free).reduce(automaticBytesMax, min)
    }
}
