import ImageModel
import Synchronization

/// Loads of frames that are under way: one of a frame, for all who want it. It is cancelled when
/// nobody does any more. Any thread.
final class FrameLoads: Sendable {
    typealias Ended = Result<AnimationFrame, ImageError>

    /// The share that one of those who want a frame has in its load.
    struct Seat: Sendable {
        let index: Int
        /// Tells loads of the same frame apart.
        let number: Int
        let work: Task<Ended, Never>
    }

    private struct Running {
        let seat: Seat
        let load: LoadTask
        var users: Int
    }

    private struct State {
        var running: [Int: Running] = [:]
        var begun = 0
    }

    private let state = Mutex(State())

    /// Takes part in the load of a frame, which begins where there is none.
    func join(
        _ index: Int, begin: () -> LoadTask,
        read: @escaping @Sendable (ImageResponse) throws(ImageError) -> AnimationFrame
    ) -> Seat {
        state.withLock { state in
            if let running = state.running[index] {
                state.running[index]?.users += 1
                return running.seat
            }
            state.begun += 1
            let (number, load) = (state.begun, begin())
            let work = Task.detached {
                let ended = await Self.end(of: load, read)
                self.remove(index, number)
                return ended
            }
            let seat = Seat(index: index, number: number, work: work)
            state.running[index] = Running(seat: seat, load: load, users: 1)
            return seat
        }
    }

    /// Gives a seat back, once. Without effect where the load has ended.
    func leave(_ seat: Seat) {
        state.withLock { state in
            guard let running = state.running[seat.index], running.seat.number == seat.number else {
                return
            }
            guard running.users == 1 else {
                state.running[seat.index]?.users -= 1
                return
            }
            state.running[seat.index] = nil
            running.load.cancel()
        }
    }

    private func remove(_ index: Int, _ number: Int) {
        state.withLock { state in
            if state.running[index]?.seat.number == number { state.running[index] = nil }
        }
    }

    private static func end(
        of load: LoadTask,
        _ read: @Sendable (ImageResponse) throws(ImageError) -> AnimationFrame
    ) async -> Ended {
        do throws(ImageError) {
            return .success(try read(try await load.response))
        } catch {
            return .failure(error)
        }
    }
}
