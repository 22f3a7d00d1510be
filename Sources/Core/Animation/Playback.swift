/// Which frame of an animation is to be seen: a value without a clock. The caller says how much
/// time went by.
///
/// The rules are SDWebImage's: a loop ends when the next frame would be the first one of the file,
/// and after the last loop that frame is not shown again (SEMANTICS §11.30).
public struct Playback: Hashable, Sendable {
    /// Whether it moves with the time.
    public enum State: UInt8, Hashable, Sendable {
        /// Never started, or stopped: it begins anew.
        case stopped
        /// Time moves it.
        case playing
        /// It goes on where it is.
        case paused
        /// All loops were shown; the last frame stays.
        case ended
    }

    /// What happened, in order.
    public enum Event: Hashable, Sendable {
        /// That frame is to be seen from now on.
        case frame(Int)
        /// So many loops have ended.
        case loop(Int)
        /// All loops have.
        case end
    }

    /// The order of the frames. A change holds from the next frame on.
    public var mode: PlaybackMode
    /// How often all is shown, 0: without end.
    public var loops: Int
    /// How fast: 2 halves every duration. Nothing moves at 0 or less.
    public var rate: Double
    /// Whether frames whose time is over are left out, so that the animation keeps its pace. If
    /// not, each is shown, however late, as upstream does.
    public var skipsLateFrames: Bool

    /// The frame to be seen.
    public private(set) var index: Int
    /// Loops that have ended.
    public private(set) var loop = 0
    /// Whether time moves it.
    public private(set) var state = State.stopped

    private var durations: [Int]
    private var isWhole: Bool
    private var goesBack = false
    /// Microseconds for which the frame has been seen.
    private var elapsed = 0

    /// - Parameters:
    ///   - durations: microseconds of each frame, at least one frame.
    ///   - isWhole: whether these are all. If not, it waits at the last one for more.
    public init(
        durations: [Int], loops: Int, mode: PlaybackMode = .normal, rate: Double = 1,
        skipsLateFrames: Bool = true, isWhole: Bool = true
    ) {
        precondition(!durations.isEmpty, "an animation has frames")
        (self.durations, self.loops, self.mode, self.rate) = (durations, loops, mode, rate)
        (self.skipsLateFrames, self.isWhole) = (skipsLateFrames, isWhole)
        index = mode.first(of: durations.count)
    }

    /// How many frames there are, as far as is known.
    public var count: Int { durations.count }

    /// Starts, or goes on after a pause. After the end it begins anew.
    public mutating func play() {
        if state == .ended { stop() }
        state = .playing
    }

    /// Time moves it no more.
    public mutating func pause() {
        if state == .playing { state = .paused }
    }

    /// Back to the beginning, where it waits.
    public mutating func stop() {
        (index, loop, elapsed, state) = (mode.first(of: count), 0, 0, .stopped)
        goesBack = false
    }

    /// Shows that frame in that loop, from its beginning; without effect for a frame that is not
    /// there.
    public mutating func seek(to index: Int, loop: Int = 0) {
        guard durations.indices.contains(index), loop >= 0 else { return }
        (self.index, self.loop, elapsed) = (index, loop, 0)
    }

    /// More frames have arrived, or all of them: their number never falls, and nothing else
    /// changes.
    public mutating func extend(to durations: [Int], isWhole: Bool) {
        guard durations.count >= count else { return }
        (self.durations, self.isWhole) = (durations, isWhole)
    }

    /// Moves it by so many microseconds, and says what happened. A frame for which `isReady` is
    /// false is waited for: the frame before it stays, and no time counts.
    public mutating func advance(
        by microseconds: Int, isReady: (Int) -> Bool = { _ in true }
    ) -> [Event] {
        guard state == .playing, rate > 0, microseconds > 0 else { return [] }
        var events: [Event] = []
        elapsed += Int(min((Double(microseconds) * rate).rounded(), 1e15))
        // One whole round is as good as many: nobody sees frames that are left out.
        var left = skipsLateFrames ? count * 2 : 1
        while elapsed >= durations[index], left > 0, state == .playing {
            guard step(isReady, &events) else {
                elapsed = durations[index]
                break
            }
            left -= 1
        }
        if left == 0 { elapsed = min(elapsed, durations[index]) }
        return skipsLateFrames ? Self.seen(events) : events
    }

    /// To the next frame; false where it is not there yet.
    private mutating func step(_ isReady: (Int) -> Bool, _ events: inout [Event]) -> Bool {
        let next = mode.next(behind: index, of: count, goingBack: goesBack)
        if !isWhole, mode != .normal || next.index == 0 { return false }
        guard isReady(next.index) else { return false }
        elapsed -= durations[index]
        if next.index == 0 {
            loop += 1
            events.append(.loop(loop))
            if loops > 0, loop >= loops {
                (state, elapsed) = (.ended, 0)
                events.append(.end)
                return true
            }
        }
        (index, goesBack) = next
        events.append(.frame(index))
        return true
    }

    /// Of frames that came at once, the last one is seen.
    private static func seen(_ events: [Event]) -> [Event] {
        let last = events.lastIndex { if case .frame = $0 { true } else { false } }
        return events.indices.filter { index in
            if case .frame = events[index] { index == last } else { true }
        }.map { events[$0] }
    }

    /// The frames that come next, in order and without repetition: what is worth to have ready.
    public func upcoming(_ most: Int) -> [Int] {
        var (at, back, found) = (index, goesBack, [Int]())
        while found.count < min(most, count) {
            (at, back) = mode.next(behind: at, of: count, goingBack: back)
            guard at != index, !found.contains(at) else { break }
            found.append(at)
        }
        return found
    }

    /// In how many steps a frame is seen; 0 for the one that is to be seen.
    public func steps(to other: Int) -> Int {
        mode.steps(from: index, to: other, of: count, goingBack: goesBack)
    }

    /// In how many microseconds of the caller's time the next frame is due; `nil` where no time
    /// moves it.
    public var untilNext: Int? {
        guard state == .playing, rate > 0 else { return nil }
        let left = Double(max(0, durations[index] - elapsed)) / rate
        return Int(min(left.rounded(.up), 1e15))
    }
}
