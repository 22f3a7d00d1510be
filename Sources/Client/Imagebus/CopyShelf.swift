import Synchronization

/// Idle memory of a `CopyPool`, by class of size. Any thread.
///
/// Bounded: it keeps `idleBytesMax` at most.
struct CopyShelf: ~Copyable, Sendable {
    private struct State: ~Copyable {
        /// The one that was used last, which is warm, comes last.
        var idle: [[Int]]
        var bytes = 0
    }

    /// Two lines of a processor's cache between this shelf and what lies before it: what different
    /// processors write to must not share a line.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    private let state: Mutex<State>

    static let idleBytesMax = 8 << 20

    init(_ classCount: Int) {
        state = Mutex(State(idle: Array(repeating: [], count: classCount)))
    }

    /// Memory of that class, which has so many bytes; `nil`: there is none.
    func take(_ place: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let address: Int? = state.withLock { state in
            guard let known = state.idle[place].popLast() else { return nil }
            state.bytes -= bytes
            return known
        }
        return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    /// Keeps memory of that class; false where there is no room for it.
    func put(_ start: UnsafeMutableRawPointer, _ place: Int, _ bytes: Int) -> Bool {
        let address = Int(bitPattern: start)
        return state.withLock { state in
            guard state.bytes + bytes <= Self.idleBytesMax else { return false }
            state.idle[place].append(address)
            state.bytes += bytes
            return true
        }
    }

    deinit {
        state.withLock { state in
            for address in state.idle.joined() {
                UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            }
            state.idle = []
        }
    }
}
