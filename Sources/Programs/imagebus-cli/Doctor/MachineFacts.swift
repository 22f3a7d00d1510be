import Glibc
import Linux

/// What the kernel says of this machine, as far as a stack needs to know.
struct MachineFacts {
    /// Such as `6.1.0-18-amd64`.
    var release: String
    var processors: Int
    /// The version of Landlock; nil: there is none, or it is kept from this process.
    var landlock: Int?
    /// Whether system calls can be filtered.
    var hasFilters: Bool
    /// Sealed files in memory (memfd), and references to processes (pidfd).
    var hasMemoryFiles: Bool
    var hasProcessReferences: Bool
    /// How many descriptors a process may have; `.max`: as many as it likes.
    var descriptors: UInt64
    var memory: MemorySupply
    /// Lines of `io.max` of the control group and of those above it.
    var transferLimits: [String]
    var runtime: PlaceFacts
    /// nil where nothing says where the cache is.
    var cache: PlaceFacts?

    /// What is so now. `process` is `/proc`, `groups` is where cgroup v2 is mounted.
    init(
        runtime: String, cache: String?, process: String = "/proc",
        groups: String = "/sys/fs/cgroup"
    ) {
        release = Self.line("\(process)/sys/kernel/osrelease")
        processors = CurrentProcess.processorCount
        landlock = (try? LandlockRuleset())?.version
        hasFilters = Self.line("\(process)/sys/kernel/seccomp/actions_avail").contains("errno")
        hasMemoryFiles = (try? FileDescriptor.sealed([0], name: "doctor")) != nil
        hasProcessReferences = (try? ProcessDescriptor(CurrentProcess.processID)) != nil
        descriptors = (try? ResourceLimit.current(.descriptors))?.hard ?? 0
        memory = MemorySupply.now(groups: groups, process: process)
        transferLimits = Self.transferLimits(process, groups)
        self.runtime = PlaceFacts(runtime)
        self.cache = cache.map(PlaceFacts.init)
    }

    private static func transferLimits(_ process: String, _ groups: String) -> [String] {
        let own =
            text("\(process)/self/cgroup").split(separator: "\n")
            .first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) } ?? "/"
        var path = own == "/" ? "" : own
        var lines: [String] = []
        while true {
            lines += text("\(groups)\(path)/io.max").split(separator: "\n").map(String.init)
            guard let cut = path.lastIndex(of: "/") else { return lines }
            path = String(path[..<cut])
        }
    }

    private static func line(_ path: String) -> String {
        String(text(path).prefix { $0 != "\n" })
    }

    private static func text(_ path: String) -> String {
        guard let file = try? FileDescriptor.open(path),
            let bytes = try? file.readToEnd(bytesMax: 65_536)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What is known of a directory, or of the one in which it would be made.
struct PlaceFacts {
    /// As it was named.
    var path: String
    /// The directory that is there: `path`, or one above it.
    var nearest: String
    var isWritable: Bool
    /// Whether its files live in memory.
    var isTemporary: Bool
    var totalBytes: UInt64
    var availableBytes: UInt64

    init(
        path: String, nearest: String, isWritable: Bool, isTemporary: Bool, totalBytes: UInt64,
        availableBytes: UInt64
    ) {
        (self.path, self.nearest, self.isWritable) = (path, nearest, isWritable)
        (self.isTemporary, self.totalBytes) = (isTemporary, totalBytes)
        self.availableBytes = availableBytes
    }

    /// What is so now.
    init(_ path: String) {
        var nearest = path
        while access(nearest, F_OK) != 0, let cut = nearest.lastIndex(of: "/"), nearest != "/" {
            nearest = cut == nearest.startIndex ? "/" : String(nearest[..<cut])
        }
        let status = try? FileDescriptor.openDirectory(nearest).fileSystemStatus()
        self.init(
            path: path, nearest: nearest, isWritable: access(nearest, W_OK | X_OK) == 0,
            isTemporary: status?.isTemporary ?? false, totalBytes: status?.totalBytes ?? 0,
            availableBytes: status?.availableBytes ?? 0)
    }
}
