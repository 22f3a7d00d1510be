import Animation
import ImageModel
import Synchronization

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
