import ImageModel
import Linux
import SharedArena
import Supervision

/// A stack that lives as long as one command: `imagebus serve` in a directory of its own.
///
/// Belongs to the main thread, which must outlive it: the child ends with the thread that started
/// it, also where this process is killed; then it removes the directory by itself.
final class PrivateStack {
    let paths: RuntimePaths
    private let serve: ChildProcess
    private let directory: TemporaryDirectory

    /// Until every process is there.
    private static let startMilliseconds = 30_000
    /// A drain may take 8 s; beyond that the stack is killed.
    private static let endMilliseconds = 9_000
    private static let killMilliseconds = 2_000
    /// The status of a stack whose cache directory cannot be used.
    private static let refusedByConfiguration: Int32 = 78

    /// Starts one and waits for it. Where another stack uses the cache directory, as is usual
    /// beside one, it caches in memory only; where the directory cannot be used, its cache says so.
    static func start(
        _ options: StackOptions, _ interruption: Interruption
    ) throws(ImageError) -> PrivateStack {
        if let fault = ConfigurationFaults.first(in: options.configurationFile) { throw fault }
        do throws(StartFailure) {
            return try begin(options, cache: options.cacheDirectory, interruption)
        } catch {
            guard case .ended(.exited(refusedByConfiguration)) = error else {
                throw error.explained
            }
        }
        do throws(StartFailure) {
            return try begin(options, cache: nil, interruption)
        } catch {
            throw error.explained
        }
    }

    private init(serve: ChildProcess, directory: consuming TemporaryDirectory) {
        paths = RuntimePaths(root: directory.path)
        self.serve = serve
        self.directory = directory
    }

    private static func begin(
        _ options: StackOptions, cache: String?, _ interruption: Interruption
    ) throws(StartFailure) -> PrivateStack {
        let stack: PrivateStack
        let line: ReadyLine
        do throws(Errno) {
            let place = RuntimeLocation.mayWrite("/dev/shm") ? "/dev/shm" : "/tmp"
            let directory = try TemporaryDirectory(in: place)
            let pipe = try FileDescriptor.pipe()
            var command = try serveCommand(options, in: directory.path, cache: cache)
            command.descriptors[1] = .descriptor(pipe.writeEnd.number)
            stack = PrivateStack(serve: try ChildProcess(command), directory: directory)
            line = ReadyLine(pipe.readEnd)
        } catch {
            throw .system(error)
        }
        do throws(StartFailure) {
            try stack.waitUntilReady(line, interruption)
            return stack
        } catch {
            stack.end(interruption)
            throw error
        }
    }

    private static func serveCommand(
        _ options: StackOptions, in directory: String, cache: String?
    ) throws(Errno) -> ChildCommand {
        var command = ChildCommand(
            try ProgramNeighbour.path("imagebus"),
            [
                "serve", "--runtime-dir", directory, "--remove-runtime-dir",
                "--parent-pid", "\(CurrentProcess.processID)",
                "--download", "1", "--decode", "\(options.workers)",
                "--transform", "\(options.workers)",
            ] + (cache.map { ["--cache-dir", $0, "--yield-cache"] } ?? ["--memory-only"])
                + (options.configurationFile.map { ["--config", $0] } ?? [])
                + options.network.arguments + options.log.arguments)
        command.environment["IMAGEBUS_ONLY"] = nil
        // The figures in it are those of the stack that serves here.
        command.environment["IMAGEBUS_METRICS_FILE"] = nil
        // A Ctrl-C is for this process, which then ends the stack.
        command.leadsGroup = true
        return command
    }

    private func waitUntilReady(
        _ line: ReadyLine, _ interruption: Interruption
    ) throws(StartFailure) {
        let start = MonotonicClock.now()
        let failure: StartFailure?
        do throws(Errno) {
            failure = try awaitLine(line, interruption) {
                Self.startMilliseconds - Int((MonotonicClock.now() - start) / 1_000_000)
            }
        } catch {
            throw .system(error)
        }
        if let failure { throw failure }
    }

    private func awaitLine(
        _ line: ReadyLine, _ interruption: Interruption, millisecondsLeft: () -> Int
    ) throws(Errno) -> StartFailure? {
        let end = serve.descriptor.descriptor.number
        while try !line.isComplete() {
            let left = millisecondsLeft()
            if left <= 0 { return .tooSlow }
            _ = try interruption.wait(for: [line.number, end], milliseconds: left)
            if interruption.count > 0 { return .interrupted }
            if let status = try serve.poll() { return .ended(status) }
        }
        return nil
    }

    /// Drains it and waits; kills it when that takes too long, or at a further Ctrl-C.
    func end(_ interruption: Interruption) {
        let before = interruption.count
        let end = serve.descriptor.descriptor.number
        try? serve.send(.terminate)
        var left = Self.endMilliseconds
        while (try? serve.poll()) ?? nil == nil, left > 0, interruption.count == before {
            _ = try? interruption.wait(for: [end], milliseconds: 100)
            left -= 100
        }
        // A second SIGTERM kills what is left below `serve`; without an answer `serve` goes too.
        try? serve.send(.terminate)
        _ = try? serve.wait(milliseconds: Self.killMilliseconds)
    }
}

/// Why a private stack did not come up.
enum StartFailure: Error {
    case system(Errno)
    case ended(ChildStatus)
    case interrupted
    case tooSlow

    var explained: ImageError {
        switch self {
        case .system(let errno):
            ImageError(.unavailable, "no private stack can be started (\(errno))")
        case .ended(let status):
            ImageError(.unavailable, "the private stack ended at its start (\(status))")
        case .interrupted: ImageError(.cancelled, "cancelled")
        case .tooSlow: ImageError(.unavailable, "the private stack does not get ready")
        }
    }
}
