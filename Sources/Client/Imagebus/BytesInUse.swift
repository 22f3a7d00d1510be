import Messages
import Synchronization

/// Image bytes that somebody still reads, by the block that they came from: a further reader of the
/// same result gets the same object instead of a copy of its own. Any thread.
///
/// Keeps nothing alive. Bounded: by twice the objects that are in use.
final class BytesInUse: Sendable {
    private struct Place { weak var bytes: ImageBytes? }

    private struct State {
        var places: [BlockReference: Place] = [:]
        /// How many places there may be before those whose bytes have gone are removed.
        var placesMax = placesMin
    }

    private let state = Mutex(State())

    /// Smaller results are copied: that takes less time than two look-ups here.
    static let bytesMin: UInt64 = 64 << 10
    private static let placesMin = 64

    /// The bytes of a result that is being read; `nil`: nobody reads it.
    func bytes(of reference: BlockReference) -> ImageBytes? {
        guard reference.length >= Self.bytesMin else { return nil }
        return state.withLock { $0.places[reference]?.bytes }
    }

    /// Bytes that further readers are to get. Returns those of another thread that was faster.
    func add(_ bytes: ImageBytes, of reference: BlockReference) -> ImageBytes {
        guard reference.length >= Self.bytesMin else { return bytes }
        return state.withLock { state in
            if let known = state.places[reference]?.bytes { return known }
            if state.places.count >= state.placesMax {
                state.places = state.places.filter { $0.value.bytes != nil }
                state.placesMax = max(Self.placesMin, 2 * state.places.count)
            }
            state.places[reference] = Place(bytes: bytes)
            return bytes
        }
    }

    /// What is read now has no further readers: blocks of the next session are others.
    func forgetAll() { state.withLock { $0 = State() } }
}
