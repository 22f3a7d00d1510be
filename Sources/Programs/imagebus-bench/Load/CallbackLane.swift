import Linux
import Synchronization

/// Loads one after the other, each from the callback that ends the one before.
final class CallbackLane: Sendable {
    private struct State {
        var figures = LoadFigures()
        var begin = MonotonicClock.now()
        /// The call that begins a load has not returned.
        var isBeginning = false
        /// The load ended before that.
        var hasEnded = false
    }

    private let clock: FlightClock
    private let hasStopped: @Sendable () -> Bool
    private let load: LoadFlight.CallbackLoad
    private let end: @Sendable (LoadFigures) -> Void
    private let state = Mutex(State())

    /// `end` is called once, with what was counted.
    init(
        _ clock: FlightClock, hasStopped: @escaping @Sendable () -> Bool,
        _ load: @escaping LoadFlight.CallbackLoad,
        _ end: @escaping @Sendable (LoadFigures) -> Void
    ) {
        (self.clock, self.hasStopped, self.load, self.end) = (clock, hasStopped, load, end)
    }

    /// Goes on until the time is up. A load that ends at once is followed here, and not by its
    /// callback: a thousand of them would be a thousand calls deep.
    func run() {
        while mayBegin() {
            load { [self] bytes in
                if ended(bytes) { run() }
            }
            guard hasEndedMeanwhile() else { return }
        }
    }

    private func mayBegin() -> Bool {
        let figures: LoadFigures? = state.withLock { state in
            if state.begin < clock.end, !hasStopped() {
                state.isBeginning = true
                return nil
            }
            state.figures.seconds = clock.elapsed
            return state.figures
        }
        guard let figures else { return true }
        end(figures)
        return false
    }

    /// Counts a load; whether the next one is to be begun here.
    private func ended(_ bytes: Int?) -> Bool {
        state.withLock { state in
            state.begin = clock.count(bytes, since: state.begin, &state.figures)
            state.hasEnded = state.isBeginning
            return !state.isBeginning
        }
    }

    private func hasEndedMeanwhile() -> Bool {
        state.withLock { state in
            state.isBeginning = false
            return exchange(&state.hasEnded, with: false)
        }
    }
}
