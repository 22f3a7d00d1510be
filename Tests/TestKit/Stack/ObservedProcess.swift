import Linux

/// A process that somebody else started, held by a pidfd: never mistaken for a later one.
public final class ObservedProcess {
    /// Its number.
    public let processID: Int32
    private let descriptor: ProcessDescriptor

    /// Opens it; throws where it has ended.
    public init(_ processID: Int32) throws {
        self.processID = processID
        descriptor = try ProcessDescriptor(processID)
    }

    /// Whether it ends within `timeout`.
    public func ends(within timeout: Duration) throws -> Bool {
        try descriptor.waitForEnd(milliseconds: timeout.milliseconds)
    }

    /// Ends it.
    public func kill() throws { try descriptor.send(.kill) }

    /// Asks it to end.
    public func terminate() throws { try descriptor.send(.terminate) }

    /// Has it crash, as if it had touched an address that is not there.
    public func crash() throws { try descriptor.send(.segmentationFault) }

    /// Halts it: whatever it is given from now on, it holds.
    public func halt() throws { try descriptor.send(.stop) }

    /// Lets it go on. Nothing happens where it has ended meanwhile.
    public func resume() throws {
        do throws(Errno) {
            try descriptor.send(.resume)
        } catch {
            guard error == .noSuchProcess else { throw error }
        }
    }

    /// Its name, as the kernel cuts it, for messages.
    public var name: String {
        let text = FileBytes.text("/proc/\(processID)/comm") ?? "?"
        return String(text.prefix { $0 != "\n" })
    }

    /// The children of a process that run now.
    public static func children(of parent: Int32) -> [ObservedProcess] {
        let threads = DirectoryEntries.names("/proc/\(parent)/task")
        let numbers = threads.flatMap { thread in
            (FileBytes.text("/proc/\(parent)/task/\(thread)/children") ?? "")
                .split { $0 == " " || $0 == "\n" }.compactMap { Int32($0) }
        }
        return numbers.compactMap { try? ObservedProcess($0) }
    }
}

/// What lies in a folder.
public enum DirectoryEntries {
    /// The names in it, sorted; empty where it cannot be read.
    public static func names(_ path: String) -> [String] {
        guard let folder = try? FileDescriptor.openDirectory(path) else { return [] }
        return ((try? folder.entries()) ?? []).sorted()
    }
}
