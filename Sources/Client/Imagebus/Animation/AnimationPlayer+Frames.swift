public import Animation
public import ImageModel
import Synchronization

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
