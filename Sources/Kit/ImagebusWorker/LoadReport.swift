import Linux
import Messages
import Synchronization

/// What a load says while it works, and what it is told. Any thread.
public final class LoadReport: Sendable {
    private struct State {
        var deadline: UInt64
        var wantsProgress: Bool
        var isCancelled = false
        /// When something was told last.
        var told: UInt64 = 0
        var last: Amount?
    }

    private struct Amount {
        var received: Int
        var expected: Int
    }

    private let state: Mutex<State>
    private let tell: @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    /// Nanoseconds between two messages.
    private static let pause: UInt64 = 20_000_000

    /// Bytes of the result at most.
    public let bytesMax: Int

    init(
        millisecondsLeft: UInt32, bytesMax: Int, wantsProgress: Bool,
        tell: @escaping @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    ) {
        self.bytesMax = bytesMax
        self.tell = tell
        state = Mutex(
            State(deadline: Self.deadline(in: millisecondsLeft), wantsProgress: wantsProgress))
    }

    /// Whether nobody waits any more.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Milliseconds until nobody waits any more.
    public var millisecondsLeft: Int {
        let (deadline, now) = (state.withLock { $0.deadline }, MonotonicClock.now())
        return deadline > now ? Int((deadline - now) / 1_000_000) : 0
    }

    /// Throws where nobody waits any more; let it through.
    public func check() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// How far it is, in whatever unit; 0 expected: not known. Throws as `check` does. May be said
    /// as often as it is known: one in twenty milliseconds travels, and the last one.
    public func callAsFunction(
        _ received: Int, of expected: Int = 0
    ) throws(CancellationError) {
        try check()
        let amount = Amount(received: max(0, received), expected: max(0, expected))
        let isTold = state.withLock { state in
            state.last = amount
            let now = MonotonicClock.now()
            guard state.wantsProgress,
                now - state.told >= Self.pause || received == expected
            else { return false }
            state.told = now
            return true
        }
        if isTold { say(amount) }
    }

    private func say(_ amount: Amount) { tell(UInt64(amount.received), UInt64(amount.expected)) }

    private static func deadline(in milliseconds: UInt32) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }
}

// What the session tells it, on the bus thread.
extension LoadReport {
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whoever begins to listen is told at once.
    func adjust(millisecondsLeft: UInt32, wantsProgress: Bool) {
        let amount: Amount? = state.withLock { state in
            state.deadline = Self.deadline(in: millisecondsLeft)
            defer { state.wantsProgress = wantsProgress }
            return wantsProgress && !state.wantsProgress ? state.last : nil
        }
        if let amount { say(amount) }
    }
}
