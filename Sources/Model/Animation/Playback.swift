/// Determines which frame of an animation to display. A value without a clock: the caller passes
/// the elapsed time.
///
/// The rules are SDWebImage's: a loop ends when the next frame would be the first one of the file,
/// and after the last loop the first frame is not displayed again (SEMANTICS §11.30).
public struct Playback: Hashable, Sendable {
    /// The playback state.
    public enum State: UInt8, Hashable, Sendable {
        /// Never started, or stopped: playback starts from the beginning.
        case stopped
        /// Playback advances with time.
        case playing
        /// Playback resumes at the current position.
        case paused
        /// All loops were played; the last frame stays visible.
        case ended
    }

    /// A playback event; events are reported in order.
    public enum Event: Hashable, Sendable {
        /// The given frame is to be displayed from now on.
        case frame(Int)
        /// The given number of loops has ended.
        case loop(Int)
        /// All loops have ended.
        case end
    }

    /// The order of the frames. A change takes effect with the next frame.
    public var mode: PlaybackMode
    /// The number of loops, 0 for an infinite loop.
    public var loops: Int
    /// The playback speed: 2 halves every duration. At 0 or less playback does not advance.
    public var rate: Double
    /// Whether frames whose time has passed are skipped so that the animation keeps its pace. If
    /// not, each frame is displayed, however late, as SDWebImage does.
    public var skipsLateFrames: Bool

    /// The frame to display.
    public private(set) var index: Int
    /// The number of loops that have ended.
    public private(set) var loop = 0
    /// The playback state.
    public private(set) var state = State.stopped

    private var durations: [Int]
    private var isWhole: Bool
    private var goesBack = false
    /// Microseconds for which the current frame has been displayed.
    private var elapsed = 0

    /// - Parameters:
    ///   - durations: the duration of each frame in microseconds; at least one frame.
    ///   - isWhole: whether these are all frames. If not, playback waits at the last one for more.
    public init(
        durations: [Int], loops: Int, mode: PlaybackMode = .normal, rate: Double = 1,
        skipsLateFrames: Bool = true, isWhole: Bool = true
    ) {
        precondition(!durations.isEmpty, "an animation must have frames")
        (self.durations, self.loops, self.mode, self.rate) = (durations, loops, mode, rate)
        (self.skipsLateFrames, self.isWhole) = (skipsLateFrames, isWhole)
        index = mode.first(of: durations.count)
    }

    /// The number of frames known so far.
    public var count: Int { durations.count }

    /// Starts or resumes playback. After the end it restarts from the beginning.
    public mutating func play() {
        if state == .ended { stop() }
        state = .playing
    }

    /// Pauses playback at the current position.
    public mutating func pause() {
        if state == .playing { state = .paused }
    }

    /// Stops playback and returns to the beginning.
    public mutating func stop() {
        (index, loop, elapsed, state) = (mode.first(of: count), 0, 0, .stopped)
        goesBack = false
    }

    /// Moves to the start of the given frame in the given loop. Has no effect if the frame doesn't
    /// exist.
    public mutating func seek(to index: Int, loop: Int = 0) {
        guard durations.indices.contains(index), loop >= 0 else { return }
        (self.index, self.loop, elapsed) = (index, loop, 0)
    }

    /// Updates the durations when more frames have arrived, or all of them. The number of frames
    /// never decreases; nothing else changes.
    public mutating func extend(to durations: [Int], isWhole: Bool) {
        guard durations.count >= count else { return }
        (self.durations, self.isWhole) = (durations, isWhole)
    }

    /// Advances playback by the given number of microseconds and returns the events. If `isReady`
    /// returns false for a frame, playback waits for it: the frame before it stays visible, and no
    /// time is counted.
    public mutating func advance(
        by microseconds: Int, isReady: (Int) -> Bool = { _ in true }
    ) -> [Event] {
        guard state == .playing, rate > 0, microseconds > 0 else { return [] }
        var events: [Event] = []
        elapsed += Int(min((Double(microseconds) * rate).rounded(), 1e15))
        // At most two rounds are simulated; the result of more would look the same.
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

    /// Moves to the next frame; returns false if it has not arrived yet.
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

    /// Reduces the frames displayed at the same moment to the last one.
    private static func seen(_ events: [Event]) -> [Event] {
        let last = events.lastIndex { if case .frame = $0 { true } else { false } }
        return events.indices.filter { index in
            if case .frame = events[index] { index == last } else { true }
        }.map { events[$0] }
    }

    /// Returns the next frames to display, in order and without duplicates, for prefetching.
    public func upcoming(_ most: Int) -> [Int] {
        var (at, back, found) = (index, goesBack, [Int]())
        while found.count < min(most, count) {
            (at, back) = mode.next(behind: at, of: count, goingBack: back)
            guard at != index, !found.contains(at) else { break }
            found.append(at)
        }
        return found
    }

    /// Returns in how many steps a frame will be displayed; 0 for the current one.
    public func steps(to other: Int) -> Int {
        mode.steps(from: index, to: other, of: count, goingBack: goesBack)
    }

    /// Time in microseconds, on the caller's clock, until the next frame is due; `nil` if playback
    /// does not advance.
    public var untilNext: Int? {
        guard state == .playing, rate > 0 else { return nil }
        let left = Double(max(0, durations[index] - elapsed)) / rate
        return Int(min(left.rounded(.up), 1e15))
    }
}

/// The order in which the frames of an animation are displayed.
public enum PlaybackMode: UInt8, Hashable, Sendable, CaseIterable {
    /// From the first to the last, repeatedly.
    case normal = 0
    /// From the last to the first, repeatedly.
    case reverse = 1
    /// To the last and back to the first, which makes one loop; neither end is displayed twice in a
    /// row.
    case bounce = 2
    /// From the last to the first and back; neither end is displayed twice in a row. The first loop
    /// ends at the first frame.
    case reversedBounce = 3

    /// Returns the frame with which playback begins.
    func first(of count: Int) -> Int {
        switch self {
        case .normal, .bounce: 0
        case .reverse, .reversedBounce: count - 1
        }
    }

    /// Returns the frame after `index`, and whether playback runs backward from there.
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

    /// Returns the number of steps from one frame to a later one; 0 for the same frame.
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

/// Decides which frames of an animation are kept and which are loaded within a byte budget. It only
/// returns what to load and cancel; the caller performs it.
///
/// The displayed frame is always kept, however large. Every other frame is kept and loaded only if
/// it fits into the budget as well. Frames that will be displayed last are evicted first.
package struct FrameBuffer<Frame> {
    /// The loads to start and to cancel.
    package struct FrameCommands: Equatable {
        /// Frames to load, the most urgent first.
        package var loads: [Int] = []
        /// Frames whose load is to be canceled.
        package var cancels: [Int] = []
    }

    private struct Held {
        let frame: Frame
        let bytes: Int
    }

    /// The byte budget of all frames; the displayed frame alone may exceed it.
    package let bytesMax: Int
    /// The size in bytes of the kept frames.
    package private(set) var bytes = 0

    private let loadsMax: Int
    private let estimate: Int
    private var largest = 0
    private var held: [Int: Held] = [:]
    private var loading: Set<Int> = []

    /// - Parameters:
    ///   - estimate: the estimated size of a frame in bytes, used until the first one has arrived.
    ///   - loadsMax: the maximum number of concurrent loads, not counting the displayed frame's.
    package init(bytesMax: Int, estimate: Int, loadsMax: Int) {
        (self.bytesMax, self.estimate, self.loadsMax) = (bytesMax, max(1, estimate), loadsMax)
    }

    /// The frame at `index` if it is kept.
    package subscript(index: Int) -> Frame? { held[index]?.frame }

    /// The kept frames, in file order.
    package var indices: [Int] { held.keys.sorted() }

    /// The number of frames that fit if all are as large as the largest one so far; at least one.
    package var capacity: Int { max(1, bytesMax / frameBytes) }

    private var frameBytes: Int { largest > 0 ? largest : estimate }

    /// Returns the loads needed for `seen` and for as many of `next` as fit. Loads of other frames
    /// are canceled.
    package mutating func want(
        _ seen: Int, then next: [Int], steps: (Int) -> Int
    ) -> FrameCommands {
        let wanted = [seen] + next.prefix(capacity - 1)
        var commands = FrameCommands()
        commands.cancels = loading.subtracting(wanted).sorted()
        loading.subtract(commands.cancels)
        for index in wanted where held[index] == nil && !loading.contains(index) {
            guard index == seen || loading.count < loadsMax else { break }
            loading.insert(index)
            commands.loads.append(index)
        }
        makeRoom(keeping: Set(wanted), steps: steps)
        return commands
    }

    /// Stores a loaded frame. Ignored if its load was canceled.
    package mutating func store(_ frame: Frame, bytes: Int, at index: Int, steps: (Int) -> Int) {
        guard loading.remove(index) != nil else { return }
        held[index] = Held(frame: frame, bytes: max(0, bytes))
        self.bytes += max(0, bytes)
        largest = max(largest, bytes)
        makeRoom(keeping: [], steps: steps)
    }

    /// Records that a load ended without a frame.
    package mutating func giveUp(_ index: Int) { loading.remove(index) }

    /// Removes all frames. Returns those whose load is to be canceled.
    package mutating func clear() -> [Int] {
        defer { (held, loading, bytes) = ([:], [], 0) }
        return loading.sorted()
    }

    /// Evicts frames, the one displayed latest first, until kept and loading frames fit.
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
