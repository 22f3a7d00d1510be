import Glibc
import Testing

@testable import Linux

/// Each test runs in its own process, as masks and dispositions belong to the process.
@Suite struct SignalTests {
    @Test func aBlockedSignalIsReadInsteadOfEndingTheProcess() async {
        await #expect(processExitsWith: .success) {
            let thread = try Thread(name: "signals") {
                guard (try? Signal.block([.terminate])) != nil,
                    let signals = try? SignalDescriptor([.terminate]),
                    case nil = try? signals.next()
                else { exit(1) }
                // Directed at this thread: the test's process has others that do not block it.
                guard pthread_kill(pthread_self(), SIGTERM) == 0,
                    (try? signals.descriptor.wait(for: .readable, milliseconds: 10_000)) == true,
                    let received = try? signals.next()
                else { exit(2) }
                exit(received.signal == .terminate && received.sender == getpid() ? 0 : 3)
            }
            thread.join()
            exit(4)
        }
    }

    @Test func anIgnoredBrokenPipeIsATypedError() async {
        await #expect(processExitsWith: .success) {
            try Signal.brokenPipe.ignore()
            let pipe = try FileDescriptor.pipe()
            let reading = pipe.readEnd
            let writing = pipe.writeEnd
            try reading.close()
            do throws(Errno) {
                try writing.writeAll([1])
                exit(1)
            } catch {
                if error != .brokenPipe { exit(2) }
            }
        }
    }

    @Test func aParentThatIsNotTheExpectedOneIsNoticed() async {
        await #expect(processExitsWith: .success) {
            let parent = CurrentProcess.parentID
            guard try ParentDeath.arm(.kill, expected: parent) else { exit(1) }
            if try ParentDeath.arm(.kill, expected: parent + 1) { exit(2) }
        }
    }

    /// The senders of signals, and which of these are repeated. The supervisor is process 7.
    private static let signals: [([ProcessID], [Bool])] = [
        ([7], [false]), ([7, 7], [false, true]), ([8, 9], [false, true]), ([0, 0], [false, true]),
        ([8, 7], [false, false]), ([7, 8], [false, false]),
        ([8, 7, 7], [false, false, true]), ([7, 8, 8], [false, false, true]),
    ]

    @Test(arguments: signals)
    func aRequestToStopThatArrivesTwiceIsNotRepeated(senders: [ProcessID], repeated: [Bool]) {
        var stops = StopSignals(supervisor: 7)
        let found = senders.map { stops.record(Self.terminate(from: $0)) }
        #expect(found == repeated)
        #expect(stops.cameOnlyFromOthers == !senders.contains(7))
    }

    @Test func withoutASupervisorAnySecondSignalIsRepeated() {
        var stops = StopSignals(supervisor: nil)
        #expect(stops.record(Self.terminate(from: 7)) == false)
        #expect(stops.record(Self.terminate(from: 8)) == true)
        #expect(!stops.cameOnlyFromOthers)
    }

    private static func terminate(from sender: ProcessID) -> ReceivedSignal {
        ReceivedSignal(signal: .terminate, sender: sender, userID: 0)
    }

    @Test func anEventIsReadableUntilItIsDrained() throws {
        let event = try EventDescriptor()
        #expect(try !event.descriptor.wait(for: .readable, milliseconds: 0))
        event.signal()
        event.signal()
        #expect(try event.descriptor.wait(for: .readable, milliseconds: 0))
        #expect(event.drain() == 2)
        #expect(event.drain() == 0)
        #expect(try !event.descriptor.wait(for: .readable, milliseconds: 0))
    }
}
