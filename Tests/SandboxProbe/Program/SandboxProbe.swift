import Linux
import Model
import ProcessRuntime
import Sandbox

/// Enters the sandbox of a worker and tries everything that must be denied, then everything that a
/// worker needs; prints one line each. Exits 0 if all of the former is denied and all of the latter
/// works.
///
///     sandbox-probe --kind decode|transform --runtime-dir D [--thread-first]
///
/// Not shipped; runs inside containers as well. `--thread-first` starts a thread beforehand, which
/// disables Landlock.
enum SandboxProbe {
    static func run(_ words: [String]) -> Int32 {
        do {
            let arguments = try ProgramArguments(
                words, valued: ["kind", "runtime-dir"], flags: ["thread-first"])
            let paths = try RuntimePaths(resolving: try arguments.required("runtime-dir"))
            let kind = WorkerKind(name: try arguments.required("kind"))
            guard let kind, let places = ProbePlaces(kind, paths: paths) else {
                throw ProgramArgumentsError.unknown("--kind")
            }
            return try run(places, threadFirst: arguments.has("thread-first")) ? 0 : 1
        } catch {
            Bootstrap.complain("sandbox-probe", error)
            return ProgramExit.status(of: error)
        }
    }

    private static func run(_ places: ProbePlaces, threadFirst: Bool) throws -> Bool {
        places.prepare()
        defer { places.clear() }
        let victim = try Attempts.startVictim()
        let other = threadFirst ? try WaitingThread() : nil
        let layers = Sandbox.enter(places.profile, log: Log(program: "sandbox-probe"))
        other?.end()
        print("layers \(layers.names.joined(separator: ","))")
        let isClosed = Attempts.areDenied(victim: victim, places)
        let isOpen = Necessities.areAllowed(places)
        return isClosed && isOpen
    }
}

/// A thread that does nothing until it may exit.
private final class WaitingThread {
    private let gate: Shared

    private final class Shared: Sendable {
        let event: EventDescriptor
        init() throws(Errno) { event = try EventDescriptor() }
    }

    init() throws(Errno) {
        let gate = try Shared()
        self.gate = gate
        _ = try Thread(name: "waits") {
            _ = try? gate.event.descriptor.wait(for: .readable, milliseconds: nil)
        }
    }

    func end() { gate.event.signal() }
}
