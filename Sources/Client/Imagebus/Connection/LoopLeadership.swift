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

/// Where callers leave their orders for the line, and who runs it at the moment.
final class CommandQueue: Sendable {
    /// Who runs the line.
    enum Holder: UInt8, AtomicRepresentable {
        case nobody
        case ownThread
        case caller
    }

    let orders: Mailbox<ClientOrder>
    let holder = Atomic(Holder.ownThread)
    /// Who runs the line is awake, and will look at the orders before it waits.
    let isTurning = Atomic(false)
    /// Wakes the own thread where it does not run the line.
    let recall: EventDescriptor
    /// Why nothing is taken any more.
    private let ended = Mutex<ImageError?>(nil)

    init(ordersMax: Int) throws(Errno) {
        orders = try Mailbox(elementsMax: ordersMax)
        recall = try EventDescriptor()
    }

    /// Whether no order waits at this moment.
    var isEmpty: Bool { orders.isEmpty }

    /// Tells the line something; false where it is not taken (`refusal`). Any thread.
    func post(_ order: ClientOrder) -> Bool {
        guard orders.post(order, wakes: false) else { return false }
        rouse()
        return true
    }

    /// Why something was not taken.
    var refusal: ImageError {
        ended.withLock { $0 } ?? ImageError(.busy, "too much is pending in this process")
    }

    /// The line has ended: refuses what waits, and all that comes later.
    func close(_ reason: ImageError) {
        ended.withLock { $0 = reason }
        for order in orders.close() { order.refuse(reason) }
    }

    /// Sees to it that what was just left for the line is looked at. Any thread.
    ///
    /// It was left under a lock under which the line looks for it after saying that it is no longer
    /// turning, or that nobody runs it: so either the line finds it, or this finds the line asleep.
    func rouse() {
        if !isTurning.exchange(true, ordering: .sequentiallyConsistent) { orders.wake() }
        if holder.load(ordering: .sequentiallyConsistent) == .nobody { recall.signal() }
    }
}

/// What callers tell the client's thread.
enum ClientOrder: Sendable {
    case load(PendingLoad)
    /// With the bytes that it brings along.
    case upload(PendingLoad, [UInt8])
    case cancel(Token)
    case cancelGroup(GroupID)
    indirect case prefetch(PrefetchOrder, PrefetchTask)
    case reprioritise(Token, Priority)
    case reprioritiseGroup(GroupID, Priority)
    case release(BlockID)
    case cancelAny(Token)
    case cancelGroupOfAny(GroupID)
    case ask(Inquiry)
    /// Something was answered by vouchers: the coordinator is to be told.
    case tellUsed
    case close
    /// Nobody can begin anything any more: the line ends once nothing is pending.
    case endWhenIdle

    /// Tells whoever waits for it why nothing comes of it.
    func refuse(_ error: ImageError) {
        switch self {
        case .load(let load), .upload(let load, _): load.task.finish(.failure(error))
        case .prefetch(_, let task): task.finish(.failure(error))
        case .ask(let inquiry): inquiry.answer(.failure(error))
        case .cancel, .cancelGroup, .cancelAny, .cancelGroupOfAny, .release, .reprioritise,
            .reprioritiseGroup, .tellUsed, .close, .endWhenIdle:
            break
        }
    }
}

/// Runs tasks between the replies to a client, on the thread that runs its line: a task that loads
/// again as soon as it has an image needs no other thread to be woken.
final class LineExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Memory for the next jobs.
        var spare: [UnownedJob] = []
        /// The line has ended.
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
        case 1: commands.rouse()
        default: break
        }
    }

    /// Whether something waits at this moment.
    var isBusy: Bool { waiting.withLock { !$0.jobs.isEmpty } }

    /// Runs what waits; what comes up meanwhile is left to the next time. On the thread that runs
    /// the line.
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

    /// Nobody runs the line any more: a task that is told so has to go on elsewhere.
    func retire() {
        let jobs = waiting.withLock { state in
            state.isRetired = true
            return exchange(&state.jobs, with: [])
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

/// The end of a client's line, for those who wait for it.
final class LineEnd: Sendable {
    private let event: EventDescriptor

    init() throws(Errno) { event = try EventDescriptor() }

    /// The sockets are closed, and what was to be sent has gone.
    func come() { event.signal() }

    func wait(milliseconds: Int) {
        // Who cannot wait goes on.
        _ = try? event.descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}
