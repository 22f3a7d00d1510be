import Model
import TestKit
import Testing

@testable import Imagebus

/// Random sequences of all events of loads that share messages.
@Suite struct SharedRequestWalkTests {
    @Test(arguments: 0..<40) func eachEndsOnceAndIsAnsweredByWhatWasSentAfterIt(seed: Int) {
        var walk = Walk(seed: UInt64(seed))
        for _ in 0..<600 { walk.step() }
        walk.end()
        #expect(walk.faults.isEmpty, "\(walk.faults.prefix(5))")
        #expect(walk.messages < walk.submitted, "something was shared")
        #expect(walk.messages > 20)
    }
}

/// Models a client and a coordinator by tokens.
private struct Walk {
    private struct Task {
        let url: Int
        let submittedAt: Int
        var priority: Priority
        var ends = 0
    }

    private struct Wire {
        let url: Int
        /// When it was written to the socket.
        var sentAt: Int?
        var priority: Priority
        var isCancelled = false
    }

    private var random: SeededGenerator
    private var pending = PendingRequests(connectTimeoutMilliseconds: 50_000)
    private var tasks: [Token: Task] = [:]
    /// Messages that the coordinator has and has not answered.
    private var wires: [Token: Wire] = [:]
    private var isWelcome = false
    private var milliseconds = 1
    private var moment = 0
    private(set) var submitted = 0
    private(set) var messages = 0
    private(set) var faults: [String] = []

    private static let groups = (1...2).map { GroupID(Identifier128(high: 9, low: $0)) }
    private static let window = 6

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private var now: Instant { Instant(nanoseconds: 1).adding(milliseconds: milliseconds) }

    private mutating func any(_ tokens: some Collection<Token>) -> Token? {
        tokens.sorted { $0.value.low < $1.value.low }.randomElement(using: &random)
    }

    private var open: [Token] { tasks.filter { $0.value.ends == 0 }.map(\.key) }

    mutating func step() {
        moment += 1
        milliseconds += Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case ..<45: submit()
        case ..<60: if let token = any(open) { perform(pending.cancelled(token)) }
        case ..<62:
            perform(pending.cancelledGroup(Self.groups[Int.random(in: 0..<2, using: &random)]))
        case ..<72: reprioritize()
        case ..<76: flush()
        case ..<92: answer()
        case ..<94: change()
        default:
            milliseconds += Int.random(in: 0..<3_000, using: &random)
            perform(pending.expire(at: now))
        }
        check()
    }

    private mutating func submit() {
        submitted += 1
        let url = Int.random(in: 0..<3, using: &random)
        var image = ImageRequest(url: "http://a.test/\(url)")
        image.priority = Priority.allCases.randomElement(using: &random) ?? .normal
        image.timeoutMilliseconds = 9_000
        let token = Token(Identifier128(high: 0, low: UInt64(submitted)))
        // Loads of some URLs belong to a group, always the same.
        let group = url < 2 ? Self.groups[url] : nil
        tasks[token] = Task(url: url, submittedAt: moment, priority: image.priority)
        let load = LoadRequest(token: token, group: group, image: image)
        perform(pending.submitted(load, at: now))
    }

    private mutating func reprioritize() {
        guard let token = any(open) else { return }
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        tasks[token]?.priority = priority
        perform(pending.reprioritized(token, priority))
    }

    /// Ends the turn: the coordinator now has all messages.
    private mutating func flush() {
        pending.flushed()
        for (token, wire) in wires where wire.sentAt == nil { wires[token]?.sentAt = moment }
    }

    private mutating func answer() {
        flush()
        guard let token = any(wires.keys), let wire = wires[token] else { return }
        if wire.isCancelled { return fail(token, .cancelled) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: fail(token, .badImageData)
        case 1: fail(token, .shuttingDown)
        case 2: perform(pending.foundStale(token, at: now))
        case 3:
            perform(pending.progressed(RequestProgress(token: token, received: 1, expected: 2)))
        default:
            wires[token] = nil
            for member in pending.load(of: token)?.members ?? [token] {
                guard let task = tasks[member] else { continue }
                if task.url != wire.url { faults.append("\(member) got another image") }
                let isOlder = wire.sentAt ?? 0 < task.submittedAt
                if isOlder { faults.append("\(member) got an older one") }
                end(member)
            }
            perform(pending.delivered(token, at: now))
        }
    }

    private mutating func fail(_ token: Token, _ code: ErrorCode) {
        wires[token] = nil
        let reply = Reply(token: token, outcome: .failure(ImageError(code, "as it happens")))
        perform(pending.replied(reply, at: now))
    }

    /// Begins or ends a session.
    private mutating func change() {
        isWelcome.toggle()
        guard isWelcome else {
            wires = [:]
            return perform(pending.sessionEnded(at: now))
        }
        let epoch = Epoch(Identifier128(high: 1, low: UInt64(moment)))
        perform(pending.welcomed(ClientWelcome(epoch: epoch, window: UInt32(Self.window)), at: now))
    }

    /// Answers everything.
    mutating func end() {
        if !isWelcome { change() }
        while let token = wires.keys.first {
            if wires[token]?.isCancelled == true {
                fail(token, .cancelled)
            } else {
                fail(token, .badImageData)
            }
        }
        // Ends those that were told to wait for the next coordinator.
        change()
        change()
        while let token = wires.keys.first { fail(token, .badImageData) }
        if !pending.isEmpty { faults.append("something is left") }
        for (token, task) in tasks where task.ends != 1 {
            faults.append("\(token) ended \(task.ends) times")
        }
    }

    private mutating func end(_ token: Token) { tasks[token]?.ends += 1 }

    private mutating func perform(_ actions: PendingRequests.Actions) {
        for action in actions {
            switch action {
            case .load(let load):
                messages += 1
                wires[load.token] = Wire(
                    url: tasks[load.token]?.url ?? -1, priority: load.message.image.priority)
            case .send(.cancel(let token)):
                // If it was answered in the meantime, there is nothing to cancel.
                wires[token]?.isCancelled = true
                if let members = pending.load(of: token)?.members, members.count > 1 {
                    faults.append("\(members.count) still wait for \(token), which is cancelled")
                }
            case .send(.cancelGroup(let group)):
                let url = Self.groups.firstIndex(of: group)
                for token in wires.keys where wires[token]?.url == url {
                    wires[token]?.isCancelled = true
                }
            case .send(.reprioritize(let token, let priority)): wires[token]?.priority = priority
            case .send, .deliver, .forget: break
            case .advance(let progress):
                if tasks[progress.token]?.ends != 0 { faults.append("told after its end") }
            case .fail(let load, _): end(load.token)
            }
        }
    }

    private mutating func check() {
        if wires.values.count(where: { !$0.isCancelled }) > Self.window {
            faults.append("the window is exceeded")
        }
        for (token, wire) in wires where !wire.isCancelled {
            let members = pending.load(of: token)?.members ?? [token]
            let highest = members.compactMap { tasks[$0]?.priority }.max()
            if highest != wire.priority { faults.append("\(token) is of class \(wire.priority)") }
            if members.contains(where: { tasks[$0]?.ends != 0 }) {
                faults.append("\(token) still has a member that has ended")
            }
        }
    }
}
