import Linux
import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Supervision

/// Real children. One test at a time, since they count processes and descriptors.
@Suite(.serialized) struct SupervisorTests {
    private let programs = ProgramsFolder()
    private let folder: SharedFolder

    init() throws { folder = try SharedFolder() }

    /// A supervisor of one decoder that runs this program.
    private func supervise(
        _ program: String, startMilliseconds: Int = SupervisorState.startMilliseconds
    ) throws -> RunningSupervisor {
        try RunningSupervisor(
            [programs.program(.decode, program)], root: folder.path,
            startMilliseconds: startMilliseconds)
    }

    @Test func aStackGetsReadyAndDrainsFromTheCoordinatorOn() async throws {
        // The worker exits by itself once its coordinator has, as when told to drain. On a busy
        // machine it may receive SIGTERM before it has noticed, but never earlier.
        let gone = programs.file("gone")
        let coordinator = programs.program(
            .coordinator,
            """
            try:
                # Within it: it may be told to end as soon as it is welcome.
                welcome()
                while True: pause()
            finally:
                open('\(gone)', 'w').close()
            """)
        let decode = programs.program(
            .decode,
            """
            import time
            def told(*_):
                log('decode drained' if os.path.exists('\(gone)') else 'decode terminated')
                os._exit(0)
            signal.signal(signal.SIGTERM, told)
            welcome()
            while not os.path.exists('\(gone)'): time.sleep(0.01)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            log('decode drained')
            """)
        let supervisor = try RunningSupervisor([coordinator, decode], root: folder.path)
        #expect(await supervisor.notes { $0.event == .ready })
        #expect(try StackLock.isHeld(in: folder.path))
        #expect(await supervisor.drains())
        #expect(programs.log == ["coordinator terminated", "decode drained"])
        #expect(supervisor.allNotes.contains { $0.event == .draining })
    }

    @Test func aKilledWorkerComesBackAtOnceWithItsCount() async throws {
        let supervisor = try supervise(
            "log(' '.join(sys.argv[1:]))\nwelcome()\nwhile True: pause()")
        for life in 1...4 {
            #expect(await supervisor.notes(life) { $0.isWelcome })
            let process = try #require(supervisor.processID(.decode))
            if life < 4 { try Signal.kill.send(to: process) }
        }
        #expect(await supervisor.drains())
        #expect(!supervisor.allNotes.contains { $0.isBackoff })
        let us = "--ready-fd 3 --parent-pid \(CurrentProcess.processID) --log-fd 6"
        #expect(
            programs.log
                == (0...3).map { "--own 1 --restarts \($0) \(us)" } + ["decode terminated"])
    }

    /// Native libraries write arbitrary text to standard output and error.
    @Test func whatAChildWritesIsToldWithItsKindAndNumberAndWithinABudget() async throws {
        let supervisor = try supervise(
            """
            os.write(1, b'to output\\nto error\\x1b[31m\\n')
            welcome()
            os.write(2, b'x' * 5000 + b'\\n')
            for _ in range(1000):
                try: os.write(2, b'again\\n')
                except BlockingIOError: break
            os.write(6, b'')
            sys.exit(3)
            """)
        #expect(await supervisor.notes { $0.endedWith(.exited(3)) })
        // Output of the first process; the second one has started by now.
        let notes = supervisor.allNotes
        let end = try #require(notes.firstIndex { $0.endedWith(.exited(3)) })
        let lines = notes[..<end].compactMap { note in
            if case .wrote(let line) = note.event { line } else { nil }
        }
        #expect(lines.first == "to output" && lines.dropFirst().first == "to error\u{1B}[31m")
        #expect(lines.contains(String(repeating: "x", count: NativeLines.lineBytesMax)))
        #expect(lines.contains { $0.hasSuffix("lines dropped)") })
        #expect(lines.count <= Int(NativeLines.burst) + 10)
        #expect(await supervisor.drains())
    }

    @Test func aChildThatIsNeverWelcomedIsTriedMoreAndMoreSlowly() async throws {
        let supervisor = try supervise("sys.exit(3)")
        #expect(
            await supervisor.notes {
                $0.kind == .decode && $0.event == .backingOff(milliseconds: 200)
            })
        #expect(await supervisor.drains())
        #expect(!supervisor.allNotes.contains { $0.event == .ready })
        #expect(supervisor.allNotes.contains { $0.endedWith(.exited(3)) })
    }

    /// It stops itself, like a process that hangs in a system call: only SIGKILL has an effect.
    @Test func aChildThatHangsBeforeItSaysAnythingIsKilledAndStartedAgain() async throws {
        let hung = programs.file("hung")
        let supervisor = try supervise(
            """
            if not os.path.exists('\(hung)'):
                open('\(hung)', 'w').close()
                os.kill(os.getpid(), signal.SIGSTOP)
            welcome()
            while True: pause()
            """, startMilliseconds: 1_000)
        #expect(await supervisor.notes { $0.event == .ready })
        let notes = supervisor.allNotes.map(\.description)
        let first = try #require(notes.first?.split(separator: " ").dropFirst().first)
        // The time for which it waited for a processor may follow.
        #expect(
            notes.contains {
                $0.hasPrefix("decode \(first) did not start within 1000 ms")
                    && $0.hasSuffix(": killed")
            })
        #expect(
            supervisor.allNotes.contains { $0.endedWith(.signaled(.kill, dumpedCore: false)) })
        #expect(await supervisor.drains())
    }

    /// It shares a processor with a process of higher priority, and takes twice as long as its
    /// limit.
    @Test func aChildThatGetsNoProcessorMayTakeLongerToStart() async throws {
        let done = programs.file("done")
        let supervisor = try supervise(
            """
            import time
            begun = time.monotonic()
            os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
            if os.fork() == 0:
                os.close(3)
                while time.monotonic() < begun + 10 and not os.path.exists('\(done)'): pass
                os._exit(0)
            os.nice(19)
            while time.monotonic() < begun + 4: pass
            open('\(done)', 'w').close()
            welcome()
            while True: pause()
            """, startMilliseconds: 2_000)
        #expect(await supervisor.notes { $0.event == .ready })
        #expect(!supervisor.allNotes.contains { $0.isKill }, "\(supervisor.allNotes)")
        #expect(await supervisor.drains())
    }

    /// It has all the processor time that it wants, or as much as the machine has.
    @Test func aChildThatLoopsBeforeItSaysAnythingIsKilled() async throws {
        let looped = programs.file("looped")
        let supervisor = try supervise(
            """
            if not os.path.exists('\(looped)'):
                open('\(looped)', 'w').close()
                while True: pass
            welcome()
            while True: pause()
            """, startMilliseconds: 1_000)
        #expect(await supervisor.notes { $0.event == .ready })
        #expect(supervisor.allNotes.count { $0.isKill } == 1)
        #expect(await supervisor.drains())
    }

    @Test func whatALifeLeftThatHadNoSessionGoesToo() async throws {
        let supervisor = try supervise(
            """
            name = '%032x.0' % os.getpid()
            open('\(folder.path)/back/decode/control/' + name, 'w').close()
            begin()
            while True: pause()
            """)
        #expect(await supervisor.notes { $0.isBeginning })
        try Signal.kill.send(to: #require(supervisor.processID(.decode)))
        #expect(await supervisor.notes { $0.event == .removedSegments(.decode, 1) })
        #expect(await supervisor.notes(2) { $0.isBeginning })
        #expect(await supervisor.drains())
    }

    @Test func aSecondRequestKillsWhatDoesNotEnd() async throws {
        let supervisor = try supervise(
            """
            signal.signal(signal.SIGTERM, lambda *_: log('ignored'))
            welcome()
            while True: pause()
            """)
        #expect(await supervisor.notes { $0.event == .ready })
        supervisor.requestStop()
        #expect(await supervisor.notes { $0.event == .draining })
        supervisor.requestStop()
        #expect(await supervisor.end() == .forced)
        #expect(
            supervisor.allNotes.contains { $0.endedWith(.signaled(.kill, dumpedCore: false)) })
    }

    @Test func aProgramThatIsNotThereEndsTheStart() async throws {
        let missing = ChildSpecification(
            kind: .decode, program: "/nowhere/imagebus-decode", arguments: [])
        let supervisor = try RunningSupervisor(
            [programs.patient(.coordinator), missing], root: folder.path)
        #expect(await supervisor.end() == .refused(70))
        #expect(
            supervisor.allNotes.contains {
                $0.kind == .decode
                    && $0.event == .cannotStart(program: "/nowhere/imagebus-decode", .noSuchFile)
            })
    }

    @Test func aChildThatRefusesItsSettingsEndsTheStart() async throws {
        let supervisor = try RunningSupervisor(
            [programs.patient(.coordinator), programs.program(.cache, "sys.exit(78)")],
            root: folder.path)
        #expect(await supervisor.end() == .refused(78))
        #expect(
            supervisor.allNotes.contains { $0.kind == .cache && $0.event == .refused(code: 78) })
    }

    @Test func childrenInheritNothingAndLeaveNothing() async throws {
        let decode = programs.program(
            .decode,
            """
            log(' '.join(sorted(os.listdir('/proc/self/fd'))))
            log(os.environ['MALLOC_ARENA_MAX'])
            log(str(os.getpgrp() == os.getpid()))
            blocked = [x.split()[1] for x in open('/proc/self/status') if x.startswith('SigBlk')]
            log(blocked[0])
            welcome()
            while True: pause()
            """)
        let supervisor = try RunningSupervisor([decode, decode], root: folder.path)
        #expect(await supervisor.notes { $0.event == .ready })
        for kill in 1...5 {
            let process = try #require(supervisor.processID(.decode))
            try Signal.kill.send(to: process)
            #expect(await supervisor.notes(2 + kill) { $0.isWelcome })
        }
        #expect(await supervisor.drains())
        // 4 is the directory that the child itself reads, 6 its log.
        let lives = programs.log.filter { $0 != "decode terminated" }
        #expect(Set(lives) == ["0 1 2 3 4 6", "2", "True", "0000000000000000"])
        #expect(try children() == [])
        // Seven processes in total; concurrent tests may hold one or two for a moment.
        #expect(descriptorsOfReapedProcesses() < 4)
    }

    @Test func segmentsOfTheStackGoWithIt() async throws {
        let name = SegmentName(incarnation: life(1), number: 1).fileName
        let cache = programs.program(
            .cache,
            """
            for place in ('arena/cache', 'results'):
                open('\(folder.path)/' + place + '/\(name)', 'w').close()
            welcome()
            while True: pause()
            """)
        let supervisor = try RunningSupervisor([cache], root: folder.path)
        #expect(await supervisor.notes { $0.event == .ready })
        #expect(folder.entries(of: "results").contains(name))
        #expect(await supervisor.drains())
        #expect(!folder.entries(of: "results").contains(name))
        #expect(!folder.entries(of: "arena/cache").contains(name))
    }

    @Test func aChildThatWritesRubbishIsNeitherWelcomedNorHarmful() async throws {
        let rude = programs.program(
            .decode,
            """
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            os.write(3, b'x' * 100000)
            log('written')
            while True: pause()
            """)
        let supervisor = try RunningSupervisor(
            [rude, programs.patient(.cache)], root: folder.path)
        #expect(await supervisor.notes { $0.isWelcome })
        #expect(await supervisor.drains())
        #expect(!supervisor.allNotes.contains { $0.event == .ready })
    }

    /// The number of pidfds in this process that outlive their process.
    private func descriptorsOfReapedProcesses() -> Int {
        let folder = try? FileDescriptor.openDirectory("/proc/self/fdinfo")
        guard let numbers = try? folder?.entries() else { return .max }
        return numbers.filter {
            FileBytes.text("/proc/self/fdinfo/\($0)")?.contains("Pid:\t-1\n") == true
        }.count
    }

    /// Unreaped children of this process that belong to these tests.
    private func children() throws -> [String] {
        let file = try FileDescriptor.open("/proc/self/task/\(CurrentProcess.processID)/children")
        return String(decoding: try file.readToEnd(bytesMax: 65_536), as: UTF8.self)
            .split(separator: " ").map { String($0) }
            .filter { (FileBytes.text("/proc/\($0)/stat") ?? "").contains("imagebus-") }
    }
}

extension SupervisorNote {
    var isWelcome: Bool { event == .welcomed }

    var isBeginning: Bool { event == .begun }

    var isKill: Bool {
        switch event {
        case .hangs, .startsTooLong: true
        default: false
        }
    }

    var isBackoff: Bool { if case .backingOff = event { true } else { false } }

    func endedWith(_ wanted: ChildStatus) -> Bool {
        if case .ended(let status, _) = event { status == wanted } else { false }
    }
}
