import Linux

/// A memory cgroup (v2 or v1) for processes of a test. It is removed when it is empty.
public final class MemoryGroup {
    private let parent: String
    private let name: String
    private let isOld: Bool
    private var path: String { "\(parent)/\(name)" }

    /// Whether this user may create one here.
    public static let isPossible = (try? MemoryGroup(bytes: 1 << 30)) != nil

    /// A group with a limit of `bytes`, without swap. Throws if it can't be created.
    public init(bytes: UInt64) throws {
        let root = "/sys/fs/cgroup"
        isOld = FileBytes.text("\(root)/memory/memory.limit_in_bytes") != nil
        parent = isOld ? "\(root)/memory" : root
        name = "imagebus-test-\(CurrentProcess.processID)-\(UInt64.random(in: 0...UInt64.max))"
        if !isOld { try? Self.write("+memory", to: "\(root)/cgroup.subtree_control") }
        try FileDescriptor.makeDirectory(path: "\(parent)/\(name)", mode: 0o755)
        do {
            try write("\(bytes)", to: isOld ? "memory.limit_in_bytes" : "memory.max")
            // A kernel without swap has neither file.
            if isOld {
                try? write("\(bytes)", to: "memory.memsw.limit_in_bytes")
            } else {
                try? write("0", to: "memory.swap.max")
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit {
        release()
        remove()
    }

    /// Moves a process into the group; its later allocations count here.
    public func add(_ process: ObservedProcess) throws {
        try write("\(process.processID)", to: "cgroup.procs")
    }

    /// Moves the remaining processes out of the group.
    public func release() {
        let text = FileBytes.text("\(path)/cgroup.procs") ?? ""
        for process in text.split(separator: "\n") {
            try? Self.write(String(process), to: "\(parent)/cgroup.procs")
        }
    }

    /// The number of its processes that the OOM killer has killed.
    public var kills: Int {
        let text = FileBytes.text("\(path)/\(isOld ? "memory.oom_control" : "memory.events")") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        return line.flatMap { Int($0.dropFirst("oom_kill ".count)) } ?? 0
    }

    /// Its peak memory use in bytes.
    public var peakBytes: Int? {
        let file = isOld ? "memory.max_usage_in_bytes" : "memory.peak"
        return FileBytes.text("\(path)/\(file)").flatMap { Int($0.prefix { $0 != "\n" }) }
    }

    private func write(_ text: String, to file: String) throws {
        try Self.write(text, to: "\(path)/\(file)")
    }

    private static func write(_ text: String, to path: String) throws {
        try FileDescriptor.open(path, [.writeOnly]).writeAll(Array(text.utf8))
    }

    /// Fails while processes run in the group.
    private func remove() { try? FileDescriptor.openDirectory(parent).removeDirectory(name) }
}
