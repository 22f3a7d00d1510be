import Glibc
import Linux
import Model
import TestKit
import Testing

@testable import ProcessRuntime

/// Child processes that are terminated by a signal. Each leaves a crash record in a folder named
/// after its parent.
@Suite(.serialized) struct FaultTests {
    private static let life = Incarnation(Identifier128(high: 3, low: 4))
    private static let held = JobID(7)

    private static func folder(of process: pid_t) -> String { "/tmp/ib-fault-\(process)" }

    /// Whether the child of this process left a crash record for `signal`.
    private func record(signal: Int32) -> Bool {
        ControlReader(directory: Self.folder(of: getpid())).crashRecord(of: Self.life)
            == CrashRecord(job: Self.held, attempt: 2, signal: signal)
    }

    private func withFolder(_ body: () async -> Void) async throws {
        let path = Self.folder(of: getpid())
        try FileDescriptor.makeDirectory(path: path)
        await body()
        try FileDescriptor.removeTree(path: path)
    }

    /// Holds a job as a worker does, then runs `fault`.
    private static func hold(_ fault: () -> Void) throws {
        let segment = try ControlSegment(in: folder(of: getppid()), incarnation: life)
        segment.hold(held, attempt: 2)
        fault()
        segment.holdNothing()
    }

    @Test func anAddressThatIsNotThereIsWrittenDown() async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                try Self.hold { UnsafeMutablePointer<Int>(bitPattern: 4096)?.pointee = 1 }
            }
            #expect(record(signal: SIGSEGV))
        }
    }

    @Test func anAbortIsWrittenDown() async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(SIGABRT)) { try Self.hold { abort() } }
            #expect(record(signal: SIGABRT))
        }
    }

    /// As a too deeply nested image would cause.
    @Test func aStackThatRunsOverIsWrittenDown() async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                try Self.hold {
                    let thread = try? Thread(name: "deep", stackBytes: 1 << 18) {
                        _ = deeper(UInt64(getpid()))
                    }
                    thread?.join()
                }
            }
            #expect(record(signal: SIGSEGV))
        }
    }

    @Test(arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS])
    func everyFaultThatIsSentIsWrittenDownAndEndsTheProcess(signal: Int32) async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(signal)) { [signal = signal as Int32] in
                try Self.hold { send(signal) }
            }
            #expect(record(signal: signal))
        }
    }

    /// The Swift runtime of a debug build installs one: it prints a backtrace and returns.
    @Test func aHandlerThatWasThereBeforeKeepsNoProcessAlive() async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                signal(SIGSEGV) { _ in }
                try Self.hold { send(SIGSEGV) }
            }
            #expect(record(signal: SIGSEGV))
        }
    }

    @Test func whatIsKilledLeavesNoRecord() async throws {
        try await withFolder {
            await #expect(processExitsWith: .signal(SIGKILL)) { try Self.hold { send(SIGKILL) } }
            let reader = ControlReader(directory: Self.folder(of: getpid()))
            #expect(reader.heartbeat(of: Self.life) == 0)
            #expect(reader.crashRecord(of: Self.life) == nil)
        }
    }

    @Test func anOrderlyEndLeavesNothing() async throws {
        try await withFolder {
            await #expect(processExitsWith: .success) { try Self.hold {} }
            #expect(
                ControlReader(directory: Self.folder(of: getpid())).heartbeat(of: Self.life)
                    == nil)
        }
    }
}

/// Sends this process a signal, as `kill(1)` would, and waits for its effect.
private func send(_ signal: Int32) {
    kill(getpid(), signal)
    while true { pause() }
}

/// Recurses until the stack overflows.
@inline(never) private func deeper(_ depth: UInt64) -> UInt64 {
    depth == 0 ? 0 : deeper(depth &+ 2 | 1) &+ depth
}
