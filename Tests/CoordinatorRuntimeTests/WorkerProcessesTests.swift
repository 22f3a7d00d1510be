import Linux
import Model
import Testing

@testable import Coordinator

struct WorkerProcessesTests {
    private let listener = Listener.back(PoolName(.decode))

    private func life(_ number: UInt64) -> Incarnation {
        Incarnation(Identifier128(high: 1, low: number))
    }

    @Test func theNewestSessionOfAProcessIsItsOnlyOne() {
        var workers = WorkerProcesses()
        #expect(workers.admit(10, life(1), at: listener) == .welcome(insteadOf: nil))
        workers.insert(1, 10, life(1), at: listener)
        #expect(workers.admit(10, life(2), at: listener) == .welcome(insteadOf: 1))
        // On another listener as well, and with the same incarnation.
        #expect(
            workers.admit(10, life(1), at: .back(PoolName(.transform))) == .welcome(insteadOf: 1))
        workers.remove(1, 10, life(1), at: listener)
        #expect(workers.admit(10, life(2), at: listener) == .welcome(insteadOf: nil))
    }

    @Test func noProcessTakesTheIncarnationOfAnother() {
        var workers = WorkerProcesses()
        workers.insert(1, 10, life(1), at: listener)
        workers.insert(2, nil, life(2), at: listener)
        #expect(workers.admit(11, life(1), at: listener) == .refuse)
        #expect(workers.admit(nil, life(1), at: listener) == .refuse)
        #expect(workers.admit(11, life(2), at: listener) == .refuse)
        #expect(workers.admit(10, life(2), at: listener) == .refuse)
        workers.remove(2, nil, life(2), at: listener)
        #expect(workers.admit(11, life(2), at: listener) == .welcome(insteadOf: nil))
    }

    @Test func sessionsOfUnseenProcessesAreCounted() {
        var workers = WorkerProcesses()
        for number in 1...UInt64(WorkerProcesses.unseenMax) {
            #expect(workers.admit(nil, life(number), at: listener) == .welcome(insteadOf: nil))
            workers.insert(number, nil, life(number), at: listener)
        }
        #expect(workers.admit(nil, life(999), at: listener) == .refuse)
        #expect(
            workers.admit(nil, life(999), at: .back(PoolName(.cache))) == .welcome(insteadOf: nil))
        #expect(workers.admit(7, life(999), at: listener) == .welcome(insteadOf: nil))
        workers.remove(1, nil, life(1), at: listener)
        #expect(workers.admit(nil, life(999), at: listener) == .welcome(insteadOf: nil))
    }
}
