import Model
import TestKit
import Testing

@testable import Coordinator

/// A queue with all of its queued and assigned jobs.
private struct Line {
    var queue: StageQueue
    /// The number of concurrent jobs of the workers.
    let places: Int
    private(set) var waiting: [JobID: ActiveJob] = [:]
    private(set) var held: [ActiveJob] = []
    private var names: [JobID: String] = [:]

    init(_ queue: StageQueue = StageQueue(), places: Int = 1) {
        (self.queue, self.places) = (queue, places)
    }

    mutating func add(
        _ name: String, flows: ClosedRange<UInt64>, host: String = "h",
        _ priority: Priority = .normal
    ) {
        let work = JobWork.fetch(
            FetchWork(url: "http://\(host)/\(name)", headers: [], bodyBytesMax: 1))
        var urgency = Urgency(
            priority: priority, deadline: Instant(nanoseconds: 0),
            flows: Flows(.session(ClientID(flows.lowerBound))))
        for flow in flows.dropFirst() { urgency.flows.unite(Flows(.session(ClientID(flow)))) }
        let job = ActiveJob(
            JobID(UInt64(names.count + 1)),
            Submission(JobSpec(work, host: HostName(work)), urgency),
            probe: nil, at: Instant(nanoseconds: 0))
        names[job.id] = name
        job.ticket = queue.enter(job)
        waiting[job.id] = job
    }

    mutating func add(
        _ name: String, flow: UInt64 = 1, host: String = "h", _ priority: Priority = .normal
    ) {
        add(name, flows: flow...flow, host: host, priority)
    }

    /// Assigns the next job to a worker.
    mutating func next(withLow: Bool = true, free: Int) -> ActiveJob? {
        let waiting = waiting
        let next = queue.next(withLow: withLow, free: free) {
            waiting[$0.job]?.ticket.serial == $0.serial
        }
        guard let next, let job = self.waiting.removeValue(forKey: next.job) else { return nil }
        queue.leave(job.ticket)
        job.holder = next.holder
        queue.began(job)
        held.append(job)
        return job
    }

    /// Assigns the next job to a worker, and returns its name.
    @discardableResult
    mutating func serve() -> String? {
        next(free: places - held.count).flatMap { names[$0.id] }
    }

    mutating func end(_ index: Int) { queue.ended(held.remove(at: index)) }

    mutating func leave(_ id: JobID) {
        if let job = waiting.removeValue(forKey: id) { queue.leave(job.ticket) }
    }

    mutating func endAll() {
        for job in held { queue.ended(job) }
        held = []
    }

    /// Serves all queued jobs one after another.
    mutating func serveAll() -> [String] {
        var order: [String] = []
        while let name = serve() {
            order.append(name)
            endAll()
        }
        return order
    }

    mutating func raiseAll(to priority: Priority) {
        for id in waiting.keys.sorted() {
            guard let job = waiting[id] else { continue }
            job.urgency.priority = priority
            job.ticket = queue.move(job)
            waiting[id] = job
        }
    }

    /// Jobs held by workers are queued again, ahead of all others.
    mutating func putBackAll() {
        for job in held {
            queue.ended(job)
            job.ticket = queue.putBack(job)
            waiting[job.id] = job
        }
        held = []
    }

    mutating func leaveAll() {
        for id in waiting.keys.sorted() { leave(id) }
    }

    mutating func sweep() {
        let waiting = waiting
        queue.sweep { waiting[$0.job]?.ticket.serial == $0.serial }
    }

    /// The order in which jobs of two flows and one of a higher class are served.
    mutating func probe() -> [String] {
        for number in 1...3 { add("a\(number)", flow: 1) }
        for number in 1...3 { add("b\(number)", flow: 2) }
        add("c", flow: 3, .high)
        return serveAll()
    }

    /// Queues jobs, mostly in flow 1.
    mutating func fill(host: String? = nil) {
        for number in 1...20 { add("x\(number)", flow: 1, host: host ?? "h\(number)") }
        add("y", flow: 2, host: host ?? "h")
    }

    mutating func go(through past: QueueResetTests.Past) {
        switch past {
        case .served:
            fill()
            _ = serveAll()
        case .left: fill()
        case .moved:
            fill()
            raiseAll(to: .high)
            for _ in 0..<5 { serve() }
            raiseAll(to: .normal)
        case .cameBack:
            fill()
            for _ in 0..<5 { serve() }
            putBackAll()
            for _ in 0..<2 { serve() }
        case .owed:
            queue.owe(.session(ClientID(1)), 1_000)
            fill()
            for _ in 0..<3 { serve() }
        case .heldUpByItsHost:
            fill(host: "slow")
            while serve() != nil {}
        case .stoodAside:
            for number in 1...20 { add("x\(number)", flow: 1, host: "h\(number)") }
            while serve() != nil {}
        case .swept:
            fill()
            for _ in 0..<5 { serve() }
            sweep()
        }
        leaveAll()
        endAll()
    }
}

/// The queue on its own.
struct StageQueueTests {
    @Test func aSweepThatFindsNothingToThrowOutIsNotRepeated() {
        var line = Line(StageQueue(heldPerHostMax: 64))
        for number in 1...200 {
            line.add("\(number)", flows: 1...UInt64(Flows.countMax), host: "h\(number)")
        }
        line.sweep()
        #expect(line.queue.count == 200 && !line.queue.wantsSweep)
    }

    @Test func aQueueForgetsEntriesThatMoved() {
        var line = Line()
        for number in 1...100 { line.add("\(number)", .low) }
        for priority in Array(repeating: [Priority.high, .normal], count: 5).joined() {
            line.raiseAll(to: priority)
        }
        #expect(line.queue.count == 100)
        #expect(line.queue.wantsSweep)
        line.sweep()
        #expect(!line.queue.wantsSweep)
        #expect(line.queue.size <= 3 * line.queue.count)
        #expect(line.serve() == "1")
    }

    @Test func whatAFlowOwesIsPaidInTurnsOfOthersOnce() {
        var line = Line()
        line.queue.owe(.session(ClientID(1)), 2)
        for number in 1...3 { line.add("\(number)", flow: 1) }
        for number in 4...7 { line.add("\(number)", flow: 2) }
        #expect(line.serveAll() == ["4", "5", "1", "6", "2", "7", "3"])
        for number in 8...9 { line.add("\(number)", flow: 1) }
        for number in 10...11 { line.add("\(number)", flow: 2) }
        #expect(line.serveAll() == ["8", "10", "9", "11"])
    }

    @Test func flowsWithoutJobsAreForgotten() {
        var line = Line()
        line.add("1")
        for number in 2...10_000 as ClosedRange<UInt64> {
            line.add("\(number)", flow: number)
            #expect(line.serve() != nil)
            line.endAll()
            if line.queue.wantsSweep { line.sweep() }
        }
        #expect(line.queue.size < 700)
    }

    /// Whether the flow of a job may hold one more of a number of slots.
    private func mayHold(
        _ job: ActiveJob, _ held: [ActiveJob], of places: Int, _ isLimited: Bool
    ) -> Bool {
        let own = held.count { $0.holder == job.urgency.flows.first }
        return !isLimited || own < 3 * (places - held.count)
    }

    /// Fairness and order compared with a model that scans everything each time.
    @Test(arguments: 0..<40)
    func aQueueServesAsItsModelDoes(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let isLIFO = random.oneIn(2)
        let hostMax = Int.random(in: 0...5, using: &random)
        let isShared = random.oneIn(2)
        let places = Int.random(in: 1...40, using: &random)
        var line = Line(
            StageQueue(order: isLIFO ? .lifo : .fifo, heldPerHostMax: hostMax, isShared: isShared))
        for number in 1...600 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let flow = Int.random(in: 1...4, using: &random)
                let host = "h\(Int.random(in: 1...3, using: &random))"
                let priority = Priority.allCases.randomElement(using: &random) ?? .low
                line.add("\(number)", flow: UInt64(flow), host: host, priority)
            case 5:
                let id = line.waiting.keys.sorted().randomElement(using: &random)
                if let id { line.leave(id) }
            case 6 where !line.held.isEmpty:
                line.end(Int.random(in: 0..<line.held.count, using: &random))
            default:
                let withLow = !random.oneIn(4)
                let held = line.held
                let free = isShared ? places - held.count : .max
                guard free > 0 else { continue }
                let may = line.waiting.values.filter { job in
                    let atHost = held.filter { $0.spec.host == job.spec.host }
                    return mayHold(job, held, of: places, isShared)
                        && mayHold(job, atHost, of: hostMax, hostMax > 0)
                        && (withLow || job.ticket.priority > .low)
                }
                let job = line.next(withLow: withLow, free: free)
                #expect((job == nil) == may.isEmpty)
                guard let job else { continue }
                #expect(may.map(\.ticket.priority).max() == job.ticket.priority)
                let equals = may.filter {
                    $0.ticket.priority == job.ticket.priority && $0.urgency == job.urgency
                }
                #expect(equals.map(\.ticket.order).min() == job.ticket.order)
            }
            if line.queue.wantsSweep { line.sweep() }
        }
        #expect(line.queue.count == line.waiting.count)
    }
}

/// An empty queue equals a new one: whatever was served, lost or canceled before, later jobs are
/// served in the same order, and have the same share, as in a new stack.
@Suite struct QueueResetTests {
    // MARK: - One queue

    private static var line: Line {
        Line(StageQueue(heldPerHostMax: 2, isShared: true), places: 8)
    }

    /// The history of a queue before it became empty.
    enum Past: CaseIterable {
        case served, left, moved, cameBack, owed, heldUpByItsHost, stoodAside, swept
    }

    @Test func flowsTakeTurnsAndAHigherClassIsFirst() {
        var line = Self.line
        let order = line.probe()
        #expect(order == ["c", "a1", "b1", "a2", "b2", "a3", "b3"])
    }

    @Test(arguments: Past.allCases) func anEmptyQueueServesAsANewOne(past: Past) {
        var (line, new) = (Self.line, Self.line)
        line.go(through: past)
        #expect(line.queue.isIdle && line.queue.count == 0)
        let (order, expected) = (line.probe(), new.probe())
        #expect(order == expected)
        #expect(line.queue.isIdle && line.queue.size == 0)
        #expect(line.queue.gates.waitingCount == 0)
        #expect(line.queue.share?.waitingCount == 0)
    }

    /// At most 1,024 flows may have a debt. With one more, all earlier debts are forgotten; if it
    /// is one of the existing flows, none is.
    @Test(arguments: [(1_024, false, "b"), (1_024, true, "b"), (1_025, false, "a")])
    func debtsAreBounded(debtors: Int, again: Bool, first: String) {
        var line = Self.line
        for flow in 1...UInt64(debtors) { line.queue.owe(.session(ClientID(flow)), 2) }
        if again { line.queue.owe(.session(ClientID(1)), 2) }
        line.add("a", flow: 1)
        line.add("b", flow: 5_000)
        let next = line.serve()
        #expect(next == first)
    }

    // MARK: - A stack

    /// The history of a stack before it became idle.
    enum StackPast: CaseIterable {
        case failed, cancelled, disconnected, expired, workerLost, workerDrained, suspended, limited
    }

    private static func stack() -> (Stack, WorkerID) {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 4 }
        let worker = stack.hire(.download, credit: 8)
        return (stack, worker)
    }

    /// The transfers assigned to the worker.
    private static func begun(_ stack: Stack) -> [String] {
        stack.fetches.map(\.url)
    }

    @discardableResult
    private static func load(
        _ name: String, _ count: Int, by client: ClientID, _ stack: inout Stack
    ) -> [Token] {
        (0..<count).map { stack.load(.loader("\(name)\($0)"), by: client) }
    }

    /// Fails all transfers, one after another.
    private static func failAll(_ stack: inout Stack) {
        while let held = stack.allHeld.first {
            let code = held.isCancelled ? ErrorCode.cancelled : .invalidDownloadContentType
            stack.finish(held, .failed(ImageError(code, "as told")))
        }
        stack.goOn()
    }

    /// The assigned transfers after each step, with two clients that load from one host.
    private static func probe(_ stack: inout Stack) -> [[String]] {
        let (first, second) = (stack.connect(), stack.connect())
        load("a", 6, by: first, &stack)
        load("b", 3, by: second, &stack)
        var steps = [begun(stack)]
        while let held = stack.allHeld.first {
            stack.fail(held, .invalidDownloadContentType)
            steps.append(begun(stack))
        }
        return steps
    }

    private static func go(through past: StackPast, _ stack: inout Stack, _ worker: WorkerID) {
        let client = stack.connect()
        if past == .suspended { stack.send(.downloads(.suspend)) }
        if past == .limited { stack.send(.transfersMax(2)) }
        let tokens = load("x", 12, by: client, &stack)
        switch past {
        case .failed: break
        case .cancelled: for token in tokens { stack.send(.cancel(client, token)) }
        case .disconnected: stack.disconnect(client)
        case .expired: stack.pass(milliseconds: 30_000)
        case .workerLost:
            stack.kill(worker)
            stack.hire(.download, credit: 8)
        case .workerDrained:
            stack.send(.workerDraining(worker))
            failAll(&stack)
            stack.kill(worker)
            stack.hire(.download, credit: 8)
        case .suspended: stack.send(.downloads(.resume))
        case .limited:
            failAll(&stack)
            stack.send(.transfersMax(nil))
        }
        failAll(&stack)
    }

    @Test(arguments: StackPast.allCases) func anEmptyStackServesAsANewOne(past: StackPast) {
        var (new, _) = Self.stack()
        let expected = Self.probe(&new)
        var (stack, worker) = Self.stack()
        Self.go(through: past, &stack, worker)
        #expect(stack.isAtRest, "\(stack)")
        let steps = Self.probe(&stack)
        #expect(steps == expected)
        #expect(stack.isAtRest, "\(stack)")
    }
}

extension FlowID {
    /// The flow of a session with a share of its own.
    static func session(_ client: ClientID) -> FlowID {
        .client(Session(client: client, owner: .session(client)))
    }
}
