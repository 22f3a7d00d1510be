import Model
import Testing

@testable import Coordinator

/// An empty queue equals a new one: whatever was served, lost or canceled before, later jobs are
/// served in the same order, and have the same share, as in a new stack.
@Suite struct QueueResetTests {
    // MARK: - One queue

    /// The history of a queue before it became empty.
    enum Past: CaseIterable {
        case served, left, moved, cameBack, owed, heldUpByItsHost, stoodAside, swept
    }

    /// A queue with all of its queued and assigned jobs.
    private struct Line {
        /// The number of concurrent jobs of the workers.
        private static let places = 8
        var queue = StageQueue(heldPerHostMax: 2, isShared: true)
        private var waiting: [JobID: ActiveJob] = [:]
        private(set) var held: [ActiveJob] = []
        private var names: [JobID: String] = [:]

        mutating func add(
            _ name: String, flow: UInt64, host: String = "h", _ priority: Priority = .normal
        ) {
            let work = JobWork.fetch(
                FetchWork(url: "http://\(host)/\(name)", headers: [], bodyBytesMax: 1))
            let urgency = Urgency(
                priority: priority, deadline: Instant(nanoseconds: 0),
                flows: Flows(.session(ClientID(flow))))
            let job = ActiveJob(
                JobID(UInt64(names.count + 1)),
                Submission(JobSpec(work, host: HostName(work)), urgency),
                probe: nil, at: Instant(nanoseconds: 0))
            names[job.id] = name
            job.ticket = queue.enter(job)
            waiting[job.id] = job
        }

        /// Assigns the next job to a worker, and returns its name.
        @discardableResult
        mutating func serve() -> String? {
            let waiting = waiting
            let next = queue.next(withLow: true, free: Self.places - held.count) {
                waiting[$0.job]?.ticket.serial == $0.serial
            }
            guard let next, let job = self.waiting.removeValue(forKey: next.job) else {
                return nil
            }
            queue.leave(job.ticket)
            job.holder = next.holder
            queue.began(job)
            held.append(job)
            return names[job.id]
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
            for id in waiting.keys.sorted() {
                if let job = waiting.removeValue(forKey: id) { queue.leave(job.ticket) }
            }
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

        mutating func go(through past: Past) {
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

    @Test func flowsTakeTurnsAndAHigherClassIsFirst() {
        var line = Line()
        let order = line.probe()
        #expect(order == ["c", "a1", "b1", "a2", "b2", "a3", "b3"])
    }

    @Test(arguments: Past.allCases) func anEmptyQueueServesAsANewOne(past: Past) {
        var (line, new) = (Line(), Line())
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
        var line = Line()
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
        stack.held(.fetch).compactMap {
            if case .fetch(let work) = $0.job.work { work.url } else { nil }
        }
    }

    @discardableResult
    private static func load(
        _ name: String, _ count: Int, by client: ClientID, _ stack: inout Stack
    ) -> [Token] {
        (0..<count).map { stack.load(.image("\(name)\($0)", .fromLoaderOnly), by: client) }
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
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
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
