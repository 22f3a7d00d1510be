/// Memory usage of processes, in bytes.
public enum ProcessMemory {
    /// Proportional set sizes of one process (`/proc/PID/smaps_rollup`).
    public struct Proportional: Hashable, Sendable {
        /// The total, with each shared page divided by the number of processes that map it.
        public let total: UInt64
        /// The part in shared memory and tmpfs, such as arena segments.
        public let shared: UInt64
    }

    /// Returns the proportional set sizes of a process of the same user, or of any process for
    /// root.
    public static func proportional(of process: ProcessID) throws(Errno) -> Proportional {
        let file = try FileDescriptor.open("/proc/\(process)/smaps_rollup")
        return try Proportional(rollup: file.readToEnd(bytesMax: 16_384))
    }

    /// Returns the peak resident set of a process of the same user, including shared memory, since
    /// its start or since `resetPeak` (`VmHWM` in `/proc/PID/status`).
    public static func peakBytes(of process: ProcessID) throws(Errno) -> UInt64 {
        let file = try FileDescriptor.open("/proc/\(process)/status")
        let text = String(decoding: try file.readToEnd(bytesMax: 65_536), as: UTF8.self)
        guard let peak: UInt64 = value(of: "VmHWM:", in: text) else { throw .inputOutput }
        return peak * 1_024
    }

    /// Resets the peak of a process of the same user (`/proc/PID/clear_refs`).
    public static func resetPeak(of process: ProcessID) throws(Errno) {
        let file = try FileDescriptor.open("/proc/\(process)/clear_refs", .writeOnly)
        try file.writeAll(Array("5".utf8))
    }
}

extension ProcessMemory.Proportional {
    /// Parses `smaps_rollup`.
    init(rollup bytes: some Collection<UInt8>) throws(Errno) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let total: UInt64 = value(of: "Pss:", in: text) else { throw .inputOutput }
        self.total = total * 1_024
        shared = (value(of: "Pss_Shmem:", in: text) ?? 0) * 1_024
    }
}

/// Repeatedly measures this process's private memory. It keeps the file open, so it also works after
/// the process has given up file system access.
public struct ProcessMemoryGauge: ~Copyable, Sendable {
    /// `/proc/self/status`, whose counters the kernel keeps. `smaps_rollup` visits each page, which
    /// takes milliseconds where large segments are mapped.
    private let status: FileDescriptor

    /// Opens `/proc/self/status`.
    public init() throws(Errno) {
        status = try FileDescriptor.open("/proc/self/status")
    }

    /// Returns the resident bytes, without shared memory and mapped files.
    public borrowing func privateBytes() throws(Errno) -> UInt64 {
        let text = String(decoding: try status.bytes(count: 4_096), as: UTF8.self)
        guard let kilobytes: UInt64 = value(of: "RssAnon:", in: text) else { throw .inputOutput }
        return kilobytes * 1_024
    }
}

/// The memory a process may still use, according to the kernel, in its control group (cgroup v2)
/// and on the machine. Unknown values are `nil`.
public struct MemorySupply: Hashable, Sendable {
    /// The bytes the control group may use: the smallest `memory.max` or `memory.high` of the group
    /// and its ancestors.
    public var limitBytes: Int?
    /// The bytes used by the group that the kernel can't reclaim by dropping page cache.
    public var usedBytes: Int?
    /// The percentage of the last ten seconds in which some task of the group stalled on memory.
    public var stallPercent: Double?
    /// The bytes available on the machine.
    public var availableBytes: Int?
    /// The machine's memory in bytes.
    public var totalBytes: Int?

    /// Creates a value in which everything is unknown.
    public init() {}

    /// Returns the kernel's current values. `groups` is the mount point of cgroup v2, `process`
    /// that of procfs.
    public static func now(
        groups: String = "/sys/fs/cgroup", process: String = "/proc"
    ) -> MemorySupply {
        MemorySupply(groups: groups, process: process)
    }

    private init(groups: String, process: String) {
        let own = Self.ownGroup(process)
        for path in Self.groupsAround(own) {
            for file in ["memory.max", "memory.high"] {
                guard let bytes = Self.number("\(groups)\(path)/\(file)") else { continue }
                limitBytes = min(limitBytes ?? bytes, bytes)
            }
        }
        let group = "\(groups)\(own)"
        if let current = Self.number("\(group)/memory.current") {
            let files = value(of: "inactive_file", in: Self.text("\(group)/memory.stat")) ?? 0
            usedBytes = max(0, current - files)
        }
        stallPercent = Self.stall(in: Self.text("\(group)/memory.pressure"))
        let machine = Self.text("\(process)/meminfo")
        availableBytes = value(of: "MemAvailable:", in: machine).map { (kilobytes: Int) in
            kilobytes << 10
        }
        totalBytes = value(of: "MemTotal:", in: machine).map { (kilobytes: Int) in kilobytes << 10 }
    }

    /// Returns the number of bytes the control group of a process may use, with cgroup v2 or v1:
    /// the smallest limit of the group and its ancestors. `nil` if there is none or it can't be
    /// read.
    public static func groupLimit(
        of process: ProcessID, groups: String = "/sys/fs/cgroup", processes: String = "/proc"
    ) -> Int? {
        let lines = text("\(processes)/\(process)/cgroup").split(separator: "\n")
        var limits: [Int] = []
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isOld = parts[1].split(separator: ",").contains("memory")
            guard isOld || parts[1].isEmpty else { continue }
            let (root, file) =
                isOld ? ("\(groups)/memory", "memory.limit_in_bytes") : (groups, "memory.max")
            limits += groupsAround(String(parts[2])).compactMap { number("\(root)\($0)/\(file)") }
        }
        // In cgroup v1, no limit is represented by the largest number of pages.
        return limits.min().flatMap { $0 < Int(Int64.max >> 1) ? $0 : nil }
    }

    /// Returns the path of the cgroup v2 group without a trailing slash, from `0::/path`.
    private static func ownGroup(_ process: String) -> String {
        let lines = text("\(process)/self/cgroup").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }) else { return "" }
        let path = line.dropFirst(3)
        return path == "/" ? "" : String(path)
    }

    /// Parses `some avg10=1.25 avg60=…`.
    private static func stall(in text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix("some ") {
            for part in line.split(separator: " ") where part.hasPrefix("avg10=") {
                return Double(part.dropFirst(6))
            }
        }
        return nil
    }

    /// Returns the path of a control group and those that contain it, up to the empty one.
    private static func groupsAround(_ path: String) -> some Sequence<String> {
        sequence(first: path) { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
    }

    /// Reads a number; `nil` for `max`.
    private static func number(_ path: String) -> Int? {
        Int(text(path).prefix { $0 != "\n" })
    }

    private static func text(_ path: String) -> String {
        guard let file = try? FileDescriptor.open(path),
            let bytes = try? file.readToEnd(bytesMax: 65_536)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Returns the number that follows a name in a file of the kernel with one name per line.
private func value<Number: FixedWidthInteger>(of name: String, in text: String) -> Number? {
    for line in text.split(separator: "\n") {
        let words = line.split { $0 == " " || $0 == "\t" }
        if words.count > 1, words[0] == name { return Number(words[1]) }
    }
    return nil
}

/// Processor time used by processes.
public enum ProcessorTime {
    /// Returns the processor time of a process's current threads in nanoseconds, user and kernel
    /// mode (`/proc/PID/task/*/schedstat`). Threads that have ended aren't included.
    public static func nanoseconds(of process: ProcessID) throws(Errno) -> UInt64 {
        let threads = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var sum: UInt64 = 0
        for name in try threads.entries(entriesMax: 100_000) {
            // The thread has ended meanwhile.
            guard let file = try? threads.open("\(name)/schedstat") else { continue }
            guard let bytes = try? file.readToEnd(bytesMax: 4_096) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let used = text.split(separator: " ").first.flatMap({ UInt64($0) }) else {
                throw .inputOutput
            }
            sum += used
        }
        return sum
    }
}

/// A snapshot of the processor time that a process's threads received, and of whether they need
/// more (`/proc/PID/task/*/stat` and `schedstat`).
///
/// Both files are readable by everyone. If `/proc` is mounted with `hidepid`, only the same user
/// can read them, and not after the process made itself undumpable. A kernel without
/// `CONFIG_SCHED_INFO` has no `schedstat`; then only threads that wait at the moment of the
/// snapshot count as waiting.
public struct ProcessorTurns: Hashable, Sendable {
    /// The processor time of one thread.
    public struct OfThread: Hashable, Sendable {
        /// Processor time used in user and kernel mode, in nanoseconds with a resolution of 10 ms.
        public var ran: UInt64
        /// Time spent runnable but waiting for a processor, in nanoseconds. A wait is counted when
        /// it ends.
        public var waited: UInt64
        /// Whether the thread is running or waiting for a processor, rather than sleeping or
        /// stopped.
        public var wantsToRun: Bool
    }

    /// The time of the snapshot, in nanoseconds of the monotonic clock.
    public let takenAt: UInt64
    /// The threads by thread ID.
    public let threads: [Int32: OfThread]

    /// Creates a snapshot from known values.
    public init(takenAt: UInt64, threads: [Int32: OfThread]) {
        self.takenAt = takenAt
        self.threads = threads
    }

    /// Takes a snapshot. Throws ENOENT or EPERM if the process doesn't exist or is hidden.
    public init(of process: ProcessID) throws(Errno) {
        let folder = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var threads: [Int32: OfThread] = [:]
        for name in try folder.entries(entriesMax: 100_000) {
            // The thread has ended meanwhile.
            guard let number = Int32(name), let line = try? Self.read("\(name)/stat", in: folder)
            else { continue }
            let waits = try? Self.read("\(name)/schedstat", in: folder)
            guard let thread = OfThread(stat: line, schedstat: waits) else { throw .inputOutput }
            threads[number] = thread
        }
        self.init(takenAt: MonotonicClock.now(), threads: threads)
    }

    private static func read(
        _ name: String, in folder: borrowing FileDescriptor
    ) throws(Errno) -> String {
        String(decoding: try folder.open(name).readToEnd(bytesMax: 4_096), as: UTF8.self)
    }

    /// Returns the nanoseconds since `earlier` in which a thread of the process was runnable but
    /// didn't run; at most the time elapsed.
    ///
    /// The kernel counts a wait only once it's over. For a thread that's runnable now, all time in
    /// which it didn't run counts as waiting.
    public func waited(since earlier: ProcessorTurns) -> UInt64 {
        let passed = takenAt.minus(earlier.takenAt)
        var sum: UInt64 = 0
        for (number, thread) in threads {
            let before = earlier.threads[number]
            let wait = thread.waited.minus(before?.waited ?? 0)
            let ran = thread.ran.minus(before?.ran ?? 0)
            sum += thread.wantsToRun ? max(wait, passed.minus(ran)) : wait
        }
        return min(sum, passed)
    }

    /// Like `waited`, but only counts completed waits. For a process that measures itself, since
    /// its own thread is running.
    public func waitedUntilItRan(since earlier: ProcessorTurns) -> UInt64 {
        let ended = threads.mapValues {
            OfThread(ran: $0.ran, waited: $0.waited, wantsToRun: false)
        }
        return ProcessorTurns(takenAt: takenAt, threads: ended).waited(since: earlier)
    }
}

extension ProcessorTurns.OfThread {
    /// Fields of `stat` after the program name, which may contain anything: the state and the ticks
    /// in user and kernel mode.
    private static let (stateField, userField, kernelField) = (0, 11, 12)
    /// The length of a tick in `stat`, the same on all machines (`USER_HZ`).
    private static let tickNanoseconds: UInt64 = 10_000_000

    /// Parses a thread's `stat` and `schedstat`. Returns `nil` if they are malformed.
    public init?(stat: String, schedstat: String?) {
        guard let bracket = stat.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[stat.utf8.index(after: bracket)...].split(separator: " ")
        guard fields.count > Self.kernelField, let user = UInt64(fields[Self.userField]),
            let kernel = UInt64(fields[Self.kernelField])
        else { return nil }
        let waits = schedstat?.split { $0 == " " || $0 == "\n" } ?? []
        let waited = waits.count > 1 ? UInt64(waits[1]) : nil
        self.init(
            ran: (user + kernel) * Self.tickNanoseconds, waited: waited ?? 0,
            wantsToRun: fields[Self.stateField] == "R")
    }
}

extension UInt64 {
    /// Saturating subtraction: the kernel's counters are read one after another, so `other` may be
    /// larger.
    fileprivate func minus(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
