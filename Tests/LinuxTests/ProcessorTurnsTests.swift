import TestKit
import Testing

@testable import Linux

@Suite(.serialized) struct ProcessorTurnsTests {
    /// `proc(5)`: the third field is the state, the 14th and 15th are ticks of 10 ms; a program may
    /// have any name. The second number of `schedstat` is the wait in nanoseconds.
    @Test func theLinesOfTheKernelAreRead() {
        let stat = "42 (a) R 1 (b) S 1 42 42 0 -1 4194304 9 0 7 0 250 13 0 0 20 0 1 0 5 6 7"
        let thread = ProcessorTurns.OfThread(stat: stat, schedstat: "2630000001 77 12\n")
        #expect(thread == .init(ran: 2_630_000_000, waited: 77, wantsToRun: false))
        let running = "42 (a) R 1 (b) R 1 42 42 0 -1 4194304 9 0 7 0 250 13 0 0 20 0 1 0 5 6 7"
        #expect(
            ProcessorTurns.OfThread(stat: running, schedstat: nil)
                == .init(ran: 2_630_000_000, waited: 0, wantsToRun: true))
    }

    @Test(arguments: ["", "42 (a)", "42 (a) S 1 42 42 0 -1 0 9 0 7 0 250", "42 a S 1 2 3"])
    func whatIsNoSuchLineIsRefused(_ stat: String) {
        #expect(ProcessorTurns.OfThread(stat: stat, schedstat: nil) == nil)
    }

    private func turns(
        _ seconds: UInt64, _ threads: [Int32: ProcessorTurns.OfThread]
    ) -> ProcessorTurns {
        ProcessorTurns(takenAt: seconds * 1_000_000_000, threads: threads)
    }

    @Test func waitsAreThoseThatEndedAndThoseThatLast() {
        let before = turns(10, [1: .init(ran: 5, waited: 7, wantsToRun: false)])
        func waited(_ thread: ProcessorTurns.OfThread, _ seconds: UInt64 = 11) -> UInt64 {
            turns(seconds, [1: thread]).waited(since: before)
        }
        #expect(waited(.init(ran: 5, waited: 7, wantsToRun: false)) == 0, "it slept")
        #expect(waited(.init(ran: 9, waited: 307, wantsToRun: false)) == 300)
        #expect(waited(.init(ran: 5, waited: 7, wantsToRun: true)) == 1_000_000_000)
        #expect(waited(.init(ran: 1_000_000_005, waited: 7, wantsToRun: true)) == 0, "it ran")
        #expect(waited(.init(ran: 600_000_005, waited: 9, wantsToRun: true)) == 400_000_000)
        #expect(waited(.init(ran: 0, waited: 0, wantsToRun: false)) == 0, "counters went back")
    }

    /// Threads that wait one after the other may delay an answer for longer than each of them
    /// waits.
    @Test func waitsOfThreadsAddUpToTheTimeThatPassed() {
        let before = turns(10, [:])
        let half = ProcessorTurns.OfThread(ran: 0, waited: 400_000_000, wantsToRun: false)
        #expect(turns(11, [1: half, 2: half]).waited(since: before) == 800_000_000)
        #expect(turns(11, [1: half, 2: half, 3: half]).waited(since: before) == 1_000_000_000)
    }

    @Test func whoAsksDoesNotWaitForItself() throws {
        let before = turns(10, [1: .init(ran: 0, waited: 0, wantsToRun: true)])
        let after = turns(11, [1: .init(ran: 0, waited: 50, wantsToRun: true)])
        #expect(after.waitedUntilItRan(since: before) == 50)
    }

    @Test func aProcessThatIsNotThereHasNone() {
        #expect(throws: Errno.noSuchFile) { try ProcessorTurns(of: 999_999_999) }
    }

    // MARK: - Real processes

    /// Terminated when the test ends.
    private struct Shell: ~Copyable {
        let child: ChildProcess

        /// A shell that loops, on the first processor available to this process.
        init(nice: Int) throws {
            let processors = FileBytes.text("/proc/self/status")?.split(separator: "\n")
                .first { $0.hasPrefix("Cpus_allowed_list:") }
            let first = try #require(processors?.drop { !$0.isNumber }.prefix { $0.isNumber })
            let loop = "exec taskset -c \(first) nice -n \(nice) sh -c 'while :; do :; done'"
            child = try ChildProcess(ChildCommand("/bin/sh", ["-c", loop]))
        }

        deinit {
            try? child.send(.kill)
            _ = try? child.wait()
        }

        /// Waits until it loops.
        func awaitLoop() throws {
            while Self.ran(try turns()) < 30_000_000 { try pass(milliseconds: 10) }
        }

        func turns() throws -> ProcessorTurns { try ProcessorTurns(of: child.processID) }

        private static func ran(_ turns: ProcessorTurns) -> UInt64 {
            turns.threads.values.reduce(0) { $0 + $1.ran }
        }

        /// Its waiting and running time during half a second.
        func metrics() throws -> (waited: UInt64, ran: UInt64, passed: UInt64) {
            let before = try turns()
            try pass(milliseconds: 500)
            // Both metrics come from one reading, as the test may be preempted between two.
            let after = try turns()
            return (
                after.waited(since: before), Self.ran(after) - Self.ran(before),
                after.takenAt - before.takenAt
            )
        }

        private func pass(milliseconds: Int) throws {
            #expect(try !child.descriptor.waitForEnd(milliseconds: milliseconds))
        }
    }

    private static let millisecond: UInt64 = 1_000_000

    @Test func whoIsStoppedDoesNotWait() throws {
        let stopped = try Shell(nice: 0)
        try stopped.awaitLoop()
        try stopped.child.send(.stop)
        while try stopped.turns().threads.values.contains(where: \.wantsToRun) {}
        let metrics = try stopped.metrics()
        #expect(metrics.waited == 0 && metrics.ran == 0)
    }

    /// Regardless of the machine's load, a looping process either runs or waits.
    @Test func whoLoopsWaitsOnlyWhileItDoesNotRun() throws {
        let looping = try Shell(nice: 0)
        try looping.awaitLoop()
        let metrics = try looping.metrics()
        #expect(metrics.ran > 0)
        #expect(metrics.waited + metrics.ran <= metrics.passed + 40 * Self.millisecond)
        #expect(metrics.waited + metrics.ran >= metrics.passed - 40 * Self.millisecond)
    }

    /// Of two processes that loop on one processor, the niced one gets a seventieth.
    @Test func whoIsStarvedWaits() throws {
        let starved = try Shell(nice: 19)
        try starved.awaitLoop()
        let other = try Shell(nice: 0)
        try other.awaitLoop()
        let metrics = try starved.metrics()
        #expect(metrics.waited > metrics.passed / 2)
    }
}
