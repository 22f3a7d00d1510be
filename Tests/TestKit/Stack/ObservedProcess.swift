import Linux

/// A process started by another process, held by a pidfd, so that it is never confused with a later
/// one of the same number.
public final class ObservedProcess {
    /// Its process id.
    public let processID: Int32
    private let descriptor: ProcessDescriptor

    /// Opens the process; throws if it has ended.
    public init(_ processID: Int32) throws {
        self.processID = processID
        descriptor = try ProcessDescriptor(processID)
    }

    /// Whether the process ends within `timeout`.
    public func ends(within timeout: Duration) throws -> Bool {
        try descriptor.waitForEnd(milliseconds: timeout.milliseconds)
    }

    /// Sends SIGKILL.
    public func kill() throws { try descriptor.send(.kill) }

    /// Sends SIGTERM.
    public func terminate() throws { try descriptor.send(.terminate) }

    /// Sends SIGSEGV, like an access to an unmapped address.
    public func crash() throws { try descriptor.send(.segmentationFault) }

    /// Stops the process (SIGSTOP): it keeps whatever work it receives from now on.
    public func halt() throws { try descriptor.send(.stop) }

    /// Continues the process. Does nothing if it has ended meanwhile.
    public func resume() throws {
        do throws(Errno) {
            try descriptor.send(.resume)
        } catch {
            guard error == .noSuchProcess else { throw error }
        }
    }

    /// Its name, truncated by the kernel, for messages.
    public var name: String {
        let text = FileBytes.text("/proc/\(processID)/comm") ?? "?"
        return String(text.prefix { $0 != "\n" })
    }

    /// The running children of a process.
    public static func children(of parent: Int32) -> [ObservedProcess] {
        let threads = DirectoryEntries.names("/proc/\(parent)/task")
        let numbers = threads.flatMap { thread in
            (FileBytes.text("/proc/\(parent)/task/\(thread)/children") ?? "")
                .split { $0 == " " || $0 == "\n" }.compactMap { Int32($0) }
        }
        return numbers.compactMap { try? ObservedProcess($0) }
    }
}

/// Lists directories.
public enum DirectoryEntries {
    /// The names of the entries, sorted; empty if the directory can't be read.
    public static func names(_ path: String) -> [String] {
        guard let folder = try? FileDescriptor.openDirectory(path) else { return [] }
        return ((try? folder.entries()) ?? []).sorted()
    }
}
