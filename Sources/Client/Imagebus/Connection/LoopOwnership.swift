import Linux
import Model
import ProcessRuntime
import Synchronization

/// Owns the client's connection and arbitrates which thread runs its loop: one at a time.
///
/// Normally this is the client's own thread. A thread that blocks for a load takes ownership if the
/// loop is free, and runs it until its load has ended. A single blocking load is then a send, a
/// wait and a receive on the caller's thread, without waking another thread. The client's thread
/// gives up ownership when blocking calls arrive and nothing else is pending. It takes it back when
/// there is work left to do, or after a while without blocking calls.
final class LoopOwnership: Sendable {
    let commands: CommandQueue
    private let executor: ConnectionExecutor
    /// A blocking call found the loop taken; the client's thread gives it up once it is idle.
    private let isWanted = Atomic(false)
    /// When a caller last gave up the loop, in nanoseconds of the monotonic clock.
    private let leftAt = Atomic<UInt64>(0)
    private let place: ConnectionPlace

    /// The time without a blocking call after which the client's thread takes the loop back, in
    /// milliseconds.
    private static let idleMilliseconds = 100

    init(_ connection: consuming ClientConnection, _ commands: CommandQueue) {
        (self.commands, executor) = (commands, connection.executor)
        place = ConnectionPlace(connection)
    }

    // MARK: - Callers

    /// Runs the loop on the calling thread until the load has ended. Returns false, without any
    /// effect, if another thread owns the loop.
    func run(_ load: PendingLoad) -> Bool {
        guard claim(for: .caller) else {
            isWanted.store(true, ordering: .relaxed)
            return false
        }
        place.use { $0.run(load) }
        leave()
        return true
    }

    /// Gives up the loop; the client's thread handles any remaining work.
    private func leave() {
        let isIdle = place.use { $0.isIdle }
        release()
        if !isIdle || hasWork { commands.recall.signal() }
    }

    private func release() {
        leftAt.store(MonotonicClock.now(), ordering: .relaxed)
        commands.isTurning.store(false, ordering: .sequentiallyConsistent)
        commands.holder.store(.nobody, ordering: .sequentiallyConsistent)
    }

    /// Whether commands or tasks are waiting. A thread must check this after giving up the loop:
    /// anything posted before then found the loop owned and woke no thread.
    private var hasWork: Bool { !commands.isEmpty || executor.isBusy }

    // MARK: - The client's thread

    /// Runs the loop until the client is closed. Returns the error that ended it, if any.
    func run() -> (any Error)? {
        while true {
            if let end = place.use({ $0.turn() }) { return end.error }
            guard isWanted.load(ordering: .relaxed), place.use({ $0.isIdle }) else { continue }
            isWanted.store(false, ordering: .relaxed)
            release()
            if !hasWork { standBy() }
            // A caller that owns the loop wakes this thread if it leaves work behind.
            while !claim(for: .ownThread) { standBy() }
        }
    }

    /// Destroys the connection. Sockets are closed on the client's thread, regardless of which
    /// thread drops the last reference.
    func end() { place.end() }

    /// Waits until there is work to do, or until no blocking call has arrived for a while.
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

    private func claim(for holder: CommandQueue.Holder) -> Bool {
        commands.holder.compareExchange(
            expected: .nobody, desired: holder, ordering: .sequentiallyConsistent
        ).exchanged
    }
}

/// Holds the connection in manually managed memory so that it can be destroyed explicitly.
///
/// Unchecked: the connection is accessed only by the thread that owns the loop. Ownership passes
/// between threads by a sequentially consistent exchange of `holder`. `end` is called by the
/// client's thread while it owns the loop, and it never gives it up again.
private final class ConnectionPlace: @unchecked Sendable {
    private let connection: UnsafeMutablePointer<ClientConnection>

    init(_ connection: consuming ClientConnection) {
        self.connection = .allocate(capacity: 1)
        self.connection.initialize(to: connection)
    }

    func use<Result>(_ body: (inout ClientConnection) -> Result) -> Result {
        body(&connection.pointee)
    }

    func end() { connection.deinitialize(count: 1) }

    deinit { connection.deallocate() }
}

/// The queue of commands from callers to the connection, and the state of its loop.
final class CommandQueue: Sendable {
    /// The owner of the loop.
    enum Holder: UInt8, AtomicRepresentable {
        case nobody
        case ownThread
        case caller
    }

    let queue: Mailbox<ClientCommand>
    let holder = Atomic(Holder.ownThread)
    /// Whether the thread that runs the loop is awake and will check the commands before it waits.
    let isTurning = Atomic(false)
    /// Wakes the client's thread when it does not run the loop.
    let recall: EventDescriptor
    /// Why commands are no longer accepted.
    private let ended = Mutex<ImageError?>(nil)

    init(commandsMax: Int) throws(Errno) {
        queue = try Mailbox(elementsMax: commandsMax)
        recall = try EventDescriptor()
    }

    /// Whether the queue is empty at this moment.
    var isEmpty: Bool { queue.isEmpty }

    /// Posts a command. Returns false if it is not accepted (`refusal`). Can be called from any
    /// thread.
    func post(_ command: ClientCommand) -> Bool {
        guard queue.post(command, wakes: false) else { return false }
        wakeLoop()
        return true
    }

    /// Why a command was not accepted.
    var refusal: ImageError {
        ended.withLock { $0 } ?? ImageError(.busy, "too many commands are pending in this process")
    }

    /// Refuses all queued and future commands because the connection has ended.
    func close(_ reason: ImageError) {
        ended.withLock { $0 = reason }
        for command in queue.close() { command.refuse(reason) }
    }

    /// Makes sure that a command just posted is handled. Can be called from any thread.
    ///
    /// Commands are posted under a lock that the loop takes to check for them after it has marked
    /// itself as not turning or as not owned. So either the loop finds the command, or this
    /// function finds the loop asleep and wakes it.
    func wakeLoop() {
        if !isTurning.exchange(true, ordering: .sequentiallyConsistent) { queue.wake() }
        if holder.load(ordering: .sequentiallyConsistent) == .nobody { recall.signal() }
    }
}

/// A command from a caller to the connection.
enum ClientCommand: Sendable {
    case load(PendingLoad)
    case cancel(Token)
    case cancelGroup(GroupID)
    indirect case prefetch(PrefetchCommand)
    case reprioritize(Token, Priority)
    case reprioritizeGroup(GroupID, Priority)
    case release(BlockID)
    /// A message that nothing pending belongs to.
    indirect case send(ClientMessage)
    case ask(Inquiry)
    /// Vouchers were used; the coordinator is to be notified.
    case notifyUsed
    case close
    /// The last reference to the client is gone; the connection ends once nothing is pending.
    case endWhenIdle

    /// Ends what the command started with an error.
    func refuse(_ error: ImageError) {
        switch self {
        case .load(let load): load.task.finish(.failure(error))
        case .prefetch(let command): command.task.finish(.failure(error))
        case .ask(let inquiry): _ = inquiry.end(.failure(error))
        case .cancel, .cancelGroup, .send, .release, .reprioritize, .reprioritizeGroup,
            .notifyUsed, .close, .endWhenIdle:
            break
        }
    }
}

/// Runs tasks between replies on the thread that runs the client's loop. A task that starts the
/// next load as soon as it has an image then needs no wake-up of another thread.
final class ConnectionExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Memory reused for the next jobs.
        var spare: [UnownedJob] = []
        /// Whether the connection has ended.
        var isRetired = false
    }

    let commands: CommandQueue
    private let waiting = Mutex(State())

    init(_ commands: CommandQueue) { self.commands = commands }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let place: Int? = waiting.withLock { state in
            if state.isRetired { return nil }
            state.jobs.append(job)
            return state.jobs.count
        }
        switch place {
        case nil: globalConcurrentExecutor.enqueue(job)
        case 1: commands.wakeLoop()
        default: break
        }
    }

    /// Whether jobs are queued at this moment.
    var isBusy: Bool { waiting.withLock { !$0.jobs.isEmpty } }

    /// Runs the queued jobs. Jobs enqueued meanwhile wait for the next call. Must be called on the
    /// thread that runs the loop.
    func runWaiting() {
        var jobs: [UnownedJob] = waiting.withLock { state in
            state.jobs.isEmpty
                ? [] : exchange(&state.jobs, with: exchange(&state.spare, with: []))
        }
        guard !jobs.isEmpty else { return }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        jobs.removeAll(keepingCapacity: true)
        waiting.withLock { $0.spare = jobs }
    }

    /// Moves queued and future jobs to the global executor, because the loop has ended.
    func retire() {
        let jobs = waiting.withLock { state in
            state.isRetired = true
            return exchange(&state.jobs, with: [])
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

/// An event that threads wait for, which happens once.
final class ThreadGate: Sendable {
    private let event: EventDescriptor

    init() throws(Errno) { event = try EventDescriptor() }

    func open() { event.signal() }

    /// Waits until the gate is open, or for at most `milliseconds`.
    func wait(milliseconds: Int? = nil) throws(Errno) {
        _ = try event.descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}
