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

/// In which order the frames of an animation are shown.
public enum PlaybackMode: UInt8, Hashable, Sendable, CaseIterable {
    /// From the first to the last, then the first again.
    case normal = 0
    /// From the last to the first, then the last again.
    case reverse = 1
    /// To the last and back to the first; neither is shown twice in a row. That is one loop.
    case bounce = 2
    /// From the last to the first and back; neither is shown twice in a row. Its first loop ends at
    /// the first frame.
    case reversedBounce = 3

    /// The frame with which it begins.
    func first(of count: Int) -> Int {
        switch self {
        case .normal, .bounce: 0
        case .reverse, .reversedBounce: count - 1
        }
    }

    /// The frame behind another one, and whether it goes back from now on.
    func next(behind index: Int, of count: Int, goingBack: Bool) -> (index: Int, goesBack: Bool) {
        guard count > 1 else { return (0, goingBack) }
        switch self {
        case .normal: return ((index + 1) % count, false)
        case .reverse: return ((index + count - 1) % count, true)
        case .bounce, .reversedBounce:
            let turns = index == 0 ? false : index == count - 1 ? true : goingBack
            return (turns ? index - 1 : index + 1, turns)
        }
    }

    /// How many steps lie between a frame and another one that comes later; 0 for the same.
    func steps(from index: Int, to other: Int, of count: Int, goingBack: Bool) -> Int {
        switch self {
        case .normal: return (other - index + count) % count
        case .reverse: return (index - other + count) % count
        case .bounce, .reversedBounce:
            let turns = index == 0 ? false : index == count - 1 ? true : goingBack
            if turns { return other <= index ? index - other : index + other }
            let toTheEnd = count - 1 - index
            return other >= index ? other - index : toTheEnd + count - 1 - other
        }
    }
}

/// Which frames of an animation are held and which are loaded, within a number of bytes. A value:
/// it says what is to be loaded and cancelled, and does neither.
///
/// The frame that is seen is always held, however large. Every other one is only held, and only
/// loaded, where its bytes have room beside that. The one that is seen last of all goes first.
package struct FrameBuffer<Frame> {
    /// What is to be done.
    package struct Orders: Equatable {
        /// Frames whose load begins, the most urgent one first.
        package var loads: [Int] = []
        /// Frames whose load ends without a result.
        package var cancels: [Int] = []
    }

    private struct Held {
        let frame: Frame
        let bytes: Int
    }

    /// What frames may take together; the seen one may take more alone.
    package let bytesMax: Int
    /// What the held frames take.
    package private(set) var bytes = 0

    private let loadsMax: Int
    private let estimate: Int
    private var largest = 0
    private var held: [Int: Held] = [:]
    private var loading: Set<Int> = []

    /// - Parameters:
    ///   - estimate: bytes of a frame, until one has come.
    ///   - loadsMax: loads at a time, the one of the seen frame apart.
    package init(bytesMax: Int, estimate: Int, loadsMax: Int) {
        (self.bytesMax, self.estimate, self.loadsMax) = (bytesMax, max(1, estimate), loadsMax)
    }

    /// A frame that is held.
    package subscript(index: Int) -> Frame? { held[index]?.frame }

    /// Frames that are held, in order of the file.
    package var indices: [Int] { held.keys.sorted() }

    /// Frames that have room, if all are as large as the largest one so far; at least one.
    package var capacity: Int { max(1, bytesMax / frameBytes) }

    private var frameBytes: Int { largest > 0 ? largest : estimate }

    /// What is to be done so that `seen` is there, and as many of `next` as have room. Loads of
    /// other frames are cancelled.
    package mutating func want(
        _ seen: Int, then next: [Int], steps: (Int) -> Int
    ) -> Orders {
        let wanted = [seen] + next.prefix(capacity - 1)
        var orders = Orders()
        orders.cancels = loading.subtracting(wanted).sorted()
        loading.subtract(orders.cancels)
        for index in wanted where held[index] == nil && !loading.contains(index) {
            guard index == seen || loading.count < loadsMax else { break }
            loading.insert(index)
            orders.loads.append(index)
        }
        makeRoom(keeping: Set(wanted), steps: steps)
        return orders
    }

    /// A frame has come. One whose load was cancelled is not taken.
    package mutating func take(_ frame: Frame, bytes: Int, at index: Int, steps: (Int) -> Int) {
        guard loading.remove(index) != nil else { return }
        held[index] = Held(frame: frame, bytes: max(0, bytes))
        self.bytes += max(0, bytes)
        largest = max(largest, bytes)
        makeRoom(keeping: [], steps: steps)
    }

    /// A load has ended without a frame.
    package mutating func giveUp(_ index: Int) { loading.remove(index) }

    /// Forgets all frames. Returns those whose load is to be cancelled.
    package mutating func clear() -> [Int] {
        defer { (held, loading, bytes) = ([:], [], 0) }
        return loading.sorted()
    }

    /// Frames go, the latest one first, until what is held and what is loaded have room.
    private mutating func makeRoom(keeping kept: Set<Int>, steps: (Int) -> Int) {
        while isFull {
            let others = held.keys.filter { !kept.contains($0) && steps($0) > 0 }
            guard let last = others.max(by: { steps($0) < steps($1) }),
                let gone = held.removeValue(forKey: last)
            else { return }
            bytes -= gone.bytes
        }
    }

    private var isFull: Bool {
        let (coming, overflows) = loading.count.multipliedReportingOverflow(by: frameBytes)
        return overflows || coming > bytesMax - bytes
    }
}
