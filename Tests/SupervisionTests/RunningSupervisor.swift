import Linux
import Model
import TestKit

@testable import Supervision

/// A supervisor on its own thread, where programs run it on the main thread.
///
/// Its children are killed when the last reference is released.
final class RunningSupervisor: Sendable {
    private struct Observed {
        var notes: [SupervisorNote] = []
        var end: SupervisorEnd?
        var failure: String?
    }

    /// The write end of the pipe that the supervisor reads.
    private final class StopButton: Sendable {
        let writeEnd: FileDescriptor

        init(_ writeEnd: consuming FileDescriptor) { self.writeEnd = writeEnd }
    }

    private let observed = Monitor(Observed())
    private let button: StopButton

    init(
        _ specifications: [ChildSpecification], root: String,
        startMilliseconds: Int = SupervisorState.startMilliseconds
    ) throws(Errno) {
        let pipe = try FileDescriptor.pipe()
        button = StopButton(try pipe.writeEnd.duplicate())
        // The thread takes ownership of it.
        let number = try pipe.readEnd.duplicate().relinquish()
        let observed = observed
        _ = BackgroundThread {
            do {
                let directory = try RuntimeDirectory(
                    root: root, kinds: Set(specifications.compactMap(\.kind.stackKind)))
                let supervisor = Supervisor(
                    specifications, in: directory,
                    stopRequests: .pipe(FileDescriptor(owning: number)),
                    startMilliseconds: startMilliseconds
                ) { note in
                    observed.withLock { $0.notes.append(note) }
                }
                let end = try supervisor.run()
                observed.withLock { $0.end = end }
            } catch {
                observed.withLock { $0.failure = "\(error)" }
            }
        }
    }

    /// Equivalent to one SIGTERM.
    func requestStop() { try? button.writeEnd.writeAll([1]) }

    /// Requests a stop, and returns whether the stack drains.
    func drains() async -> Bool {
        requestStop()
        return await end() == .drained
    }

    /// Waits until that many matching notes have arrived.
    func notes(
        _ count: Int = 1, _ isMeant: @escaping @Sendable (SupervisorNote) -> Bool
    ) async -> Bool {
        await observed.wait { $0.failure != nil || $0.notes.filter(isMeant).count >= count }
            && observed.current.failure == nil
    }

    /// Waits for `run()` to return; nil on a timeout or an error.
    func end() async -> SupervisorEnd? {
        _ = await observed.wait { $0.end != nil || $0.failure != nil }
        return observed.current.end
    }

    var allNotes: [SupervisorNote] { observed.current.notes }

    /// The most recently started process of a kind.
    func processID(_ kind: ProcessKind) -> ProcessID? {
        allNotes.last { $0.event == .started && $0.kind == kind }?.process
    }
}
