import Model
import TestKit
import Testing

@testable import Coordinator

/// The queue on its own.
struct StageQueueTests {
    private func job(
        _ number: Int, flow: Int = 1, host: String = "h", _ priority: Priority = .normal
    )
        -> ActiveJob
    {
        let work = JobWork.fetch(
            FetchWork(url: "http://\(host)/\(number)", headers: [], bodyBytesMax: 1))
        let urgency = Urgency(
            priority: priority, deadline: Instant(nanoseconds: 0),
            flows: Flows(.session(ClientID(UInt64(flow)))))
        return ActiveJob(
            JobID(UInt64(number)),
            Submission(JobSpec(work, host: HostName(work)), urgency),
            probe: nil, at: Instant(nanoseconds: 0))
    }

    @Test func aSweepThatFindsNothingToThrowOutIsNotRepeated() {
        var queue = StageQueue(heldPerHostMax: 64)
        var jobs: [JobID: ActiveJob] = [:]
        for number in 1...200 {
            let job = job(number, host: "h\(number)")
            for flow in 2...Flows.countMax {
                job.urgency.flows.unite(Flows(.session(ClientID(UInt64(flow)))))
            }
            job.ticket = queue.enter(job)
            jobs[job.id] = job
        }
        queue.sweep { jobs[$0.job]?.ticket.serial == $0.serial }
        #expect(queue.count == 200 && !queue.wantsSweep)
    }

    @Test func aQueueForgetsEntriesThatMoved() {
        var queue = StageQueue()
        var jobs: [JobID: ActiveJob] = [:]
        for number in 1...100 {
            let job = job(number, .low)
            job.ticket = queue.enter(job)
            jobs[job.id] = job
        }
        for priority in Array(repeating: [Priority.high, .normal], count: 5).joined() {
            for id in jobs.keys.sorted() {
                guard let job = jobs[id] else { continue }
                job.urgency.priority = priority
                job.ticket = queue.move(job)
                jobs[id] = job
            }
        }
        #expect(queue.count == 100)
        #expect(queue.wantsSweep)
        queue.sweep { jobs[$0.job]?.ticket.serial == $0.serial }
        #expect(!queue.wantsSweep)
        #expect(queue.size <= 3 * queue.count)
        let first = queue.next(withLow: true, free: 1) { jobs[$0.job]?.ticket.serial == $0.serial }
        #expect(first?.job == JobID(1))
    }

    @Test func whatAFlowOwesIsPaidInTurnsOfOthersOnce() {
        var queue = StageQueue()
        var waiting: [JobID: ActiveJob] = [:]
        func add(_ number: Int, flow: Int) {
            let job = job(number, flow: flow)
            job.ticket = queue.enter(job)
            waiting[job.id] = job
        }
        func order() -> [UInt64] {
            var order: [UInt64] = []
            while let next = queue.next(
                withLow: true, free: 1, { waiting[$0.job]?.ticket.serial == $0.serial }),
                let job = waiting.removeValue(forKey: next.job)
            {
                queue.leave(job.ticket)
                order.append(job.id.value)
            }
            return order
        }
        queue.owe(.session(ClientID(1)), 2)
        for number in 1...3 { add(number, flow: 1) }
        for number in 4...7 { add(number, flow: 2) }
        #expect(order() == [4, 5, 1, 6, 2, 7, 3])
        for number in 8...9 { add(number, flow: 1) }
        for number in 10...11 { add(number, flow: 2) }
        #expect(order() == [8, 10, 9, 11])
    }

    @Test func flowsWithoutJobsAreForgotten() {
        var queue = StageQueue()
        var waiting: [JobID: ActiveJob] = [:]
        func add(_ number: Int, flow: Int) {
            let job = job(number, flow: flow)
            job.ticket = queue.enter(job)
            waiting[job.id] = job
        }
        add(1, flow: 1)
        for number in 2...10_000 {
            add(number, flow: number)
            let next = queue.next(withLow: true, free: 1) {
                waiting[$0.job]?.ticket.serial == $0.serial
            }
            guard let id = next?.job, let job = waiting.removeValue(forKey: id) else {
                Issue.record("a job is next")
                return
            }
            queue.leave(job.ticket)
            if queue.wantsSweep {
                queue.sweep { waiting[$0.job]?.ticket.serial == $0.serial }
            }
        }
        #expect(queue.size < 700)
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
        var queue = StageQueue(
            order: isLIFO ? .lifo : .fifo, heldPerHostMax: hostMax, isShared: isShared)
        var waiting: [JobID: ActiveJob] = [:]
        var held: [ActiveJob] = []
        for number in 1...600 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let flow = Int.random(in: 1...4, using: &random)
                let host = "h\(Int.random(in: 1...3, using: &random))"
                let job = job(number, flow: flow, host: host)
                job.urgency.priority = Priority.allCases.randomElement(using: &random) ?? .low
                job.ticket = queue.enter(job)
                waiting[job.id] = job
            case 5:
                guard let id = waiting.keys.sorted().randomElement(using: &random),
                    let job = waiting.removeValue(forKey: id)
                else { continue }
                queue.leave(job.ticket)
            case 6 where !held.isEmpty:
                queue.ended(held.remove(at: Int.random(in: 0..<held.count, using: &random)))
            default:
                let withLow = !random.oneIn(4)
                let free = isShared ? places - held.count : .max
                guard free > 0 else { continue }
                let next = queue.next(withLow: withLow, free: free) {
                    waiting[$0.job]?.ticket.serial == $0.serial
                }
                let may = waiting.values.filter { job in
                    let atHost = held.filter { $0.spec.host == job.spec.host }
                    return mayHold(job, held, of: places, isShared)
                        && mayHold(job, atHost, of: hostMax, hostMax > 0)
                        && (withLow || job.ticket.priority > .low)
                }
                #expect((next == nil) == may.isEmpty)
                guard let next, let job = waiting.removeValue(forKey: next.job) else {
                    continue
                }
                queue.leave(job.ticket)
                job.holder = next.holder
                queue.began(job)
                held.append(job)
                #expect(may.map(\.ticket.priority).max() == job.ticket.priority)
                let line = may.filter {
                    $0.ticket.priority == job.ticket.priority && $0.urgency == job.urgency
                }
                #expect(line.map(\.ticket.order).min() == job.ticket.order)
            }
            if queue.wantsSweep {
                queue.sweep { waiting[$0.job]?.ticket.serial == $0.serial }
            }
        }
        #expect(queue.count == waiting.count)
    }
}
