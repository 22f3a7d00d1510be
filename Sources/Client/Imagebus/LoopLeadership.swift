import EventLoop
import ImageModel
import Linux
import Messages
import Synchronization

/// The client's line and the lead of who runs it: one thread at a time.
///
/// Usually that is the client's own thread. A thread that blocks for its load anyway takes the
/// lead where it is free, and runs the line until its load has ended: so a single blocking load is
/// a send, a wait and a receive on the caller's thread, with no thread woken in between. The own
/// thread gives the lead up where blocking calls come and nothing else is pending; it is back when
/// something is left to do, and after a while without such calls.
final class LoopLeadership: Sendable {
    let commands: CommandQueue
    private let executor: LineExecutor
    /// A blocking call found the lead taken: the own thread leaves it when it is idle.
    private let isWanted = Atomic(false)
    /// When a caller gave the lead up, in nanoseconds.
    private let leftAt = Atomic<UInt64>(0)
    private let place: LinePlace

    /// Milliseconds without a blocking call after which the own thread takes the lead again.
    private static let idleMilliseconds = 100

    init(_ line: consuming ClientLine, _ commands: CommandQueue) {
        (self.commands, executor) = (commands, line.executor)
        place = LinePlace(line)
    }

    // MARK: - Callers

    /// Runs the line on the calling thread until the load has ended. False where somebody else has
    /// the lead: nothing was done then.
    func run(_ load: PendingLoad, uploading bytes: [UInt8] = []) -> Bool {
        guard take(for: .caller) else {
            isWanted.store(true, ordering: .relaxed)
            return false
        }
        place.use { $0.run(load, uploading: bytes) }
        leave()
        return true
    }

    /// Gives the lead up; what is left to do is the own thread's.
    private func leave() {
        let isIdle = place.use { $0.isIdle }
        leftAt.store(MonotonicClock.now(), ordering: .relaxed)
        commands.isTurning.store(false, ordering: .sequentiallyConsistent)
        commands.holder.store(.nobody, ordering: .sequentiallyConsistent)
        if !isIdle || hasWork { commands.recall.signal() }
    }

    /// Whether orders or tasks wait for who runs the line. Who leaves it looks after that: what
    /// came before saw somebody there, and woke nobody.
    private var hasWork: Bool { !commands.isEmpty || executor.isBusy }

    // MARK: - The own thread

    /// Runs the line until it is closed; returns why it cannot go on, where it cannot.
    func run() -> (any Error)? {
        while true {
            if let end = place.use({ $0.turn() }) { return end.error }
            guard isWanted.load(ordering: .relaxed), place.use({ $0.isIdle }) else { continue }
            isWanted.store(false, ordering: .relaxed)
            leftAt.store(MonotonicClock.now(), ordering: .relaxed)
            commands.isTurning.store(false, ordering: .sequentiallyConsistent)
            commands.holder.store(.nobody, ordering: .sequentiallyConsistent)
            if !hasWork { standBy() }
            // A caller that has the lead recalls this thread when it leaves something to do.
            while !take(for: .ownThread) { standBy() }
        }
    }

    /// Ends the line: sockets are closed on the own thread, whoever drops the last reference.
    func end() { place.end() }

    /// Waits until there is something to do, or no blocking call has come for a while.
    private func standBy() {
        while true {
            let isRecalled = try? commands.recall.descriptor.wait(
                for: .readable, milliseconds: Self.idleMilliseconds)
            guard isRecalled == false else { break }
            let left = leftAt.load(ordering: .relaxed)
            if MonotonicClock.now() - left >= UInt64(Self.idleMilliseconds) * 1_000_000,
                commands.holder.load(ordering: .relaxed) == .nobody
            {
                break
            }
        }
        commands.recall.drain()
    }

    private func take(for holder: CommandQueue.Holder) -> Bool {
        commands.holder.compareExchange(
            expected: .nobody, desired: holder, ordering: .sequentiallyConsistent
        ).exchanged
    }
}

/// Where the line lies: memory of its own, so that it ends when it is told to.
///
/// Unchecked: the line is touched only by the thread that has the lead, which passes from one to
/// the next by a sequentially consistent exchange of `holder`; `end` is called by the own thread,
/// which has the lead then and never leaves it again.
private final class LinePlace: @unchecked Sendable {
    private let line: UnsafeMutablePointer<ClientLine>

    init(_ line: consuming ClientLine) {
        self.line = .allocate(capacity: 1)
        self.line.initialize(to: line)
    }

    func use<Result>(_ body: (inout ClientLine) -> Result) -> Result { body(&line.pointee) }

    func end() { line.deinitialize(count: 1) }

    deinit { line.deallocate() }
}
