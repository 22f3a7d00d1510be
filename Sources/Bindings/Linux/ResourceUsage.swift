import Glibc

/// What a process holds in memory, in bytes.
public enum ProcessMemory {
    /// Proportional shares of one process (`/proc/PID/smaps_rollup`).
    public struct Proportional: Hashable, Sendable {
        /// All of it, each shared page divided by the number of processes that map it.
        public let total: UInt64
        /// The part of it in shared memory and tmpfs: segments of the arena.
        public let shared: UInt64
    }

    /// The resident set of this process (`/proc/self/statm`).
    public static func residentBytes() throws(Errno) -> UInt64 {
        let file = try FileDescriptor.open("/proc/self/statm")
        let text = String(decoding: try file.readToEnd(bytesMax: 4_096), as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = UInt64(fields[1]) else { throw .inputOutput }
        return pages * UInt64(getpagesize())
    }

    /// The proportional shares of a process of the same user; of another one only for root.
    public static func proportional(of process: ProcessID) throws(Errno) -> Proportional {
        let file = try FileDescriptor.open("/proc/\(process)/smaps_rollup")
        return try Proportional(rollup: file.readToEnd(bytesMax: 16_384))
    }

    /// The most that a process of the same user ever had in memory, shared memory included, since
    /// it started or since `resetPeak` (`VmHWM` of `/proc/PID/status`).
    public static func peakBytes(of process: ProcessID) throws(Errno) -> UInt64 {
        let file = try FileDescriptor.open("/proc/\(process)/status")
        let text = String(decoding: try file.readToEnd(bytesMax: 65_536), as: UTF8.self)
        guard let peak = kilobytes("VmHWM:", in: text) else { throw .inputOutput }
        return peak * 1_024
    }

    /// Lets the peak of a process of the same user begin anew (`/proc/PID/clear_refs`).
    public static func resetPeak(of process: ProcessID) throws(Errno) {
        let file = try FileDescriptor.open("/proc/\(process)/clear_refs", .writeOnly)
        try file.writeAll(Array("5".utf8))
    }

    fileprivate static func kilobytes(_ field: String, in text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix(field) {
            return line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { UInt64($0) }
        }
        return nil
    }
}

extension ProcessMemory.Proportional {
    /// Reads what `smaps_rollup` says.
    init(rollup bytes: some Collection<UInt8>) throws(Errno) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let total = ProcessMemory.kilobytes("Pss:", in: text) else { throw .inputOutput }
        self.total = total * 1_024
        shared = (ProcessMemory.kilobytes("Pss_Shmem:", in: text) ?? 0) * 1_024
    }
}

/// What this process holds in memory, read again and again: also after it closed the file system to
/// itself, since the file is open.
public struct ProcessMemoryGauge: ~Copyable, Sendable {
    private let rollup: FileDescriptor

    /// Opens `/proc/self/smaps_rollup`.
    public init() throws(Errno) {
        rollup = try FileDescriptor.open("/proc/self/smaps_rollup")
    }

    /// The proportional shares now.
    public borrowing func proportional() throws(Errno) -> ProcessMemory.Proportional {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { buffer.deallocate() }
        let count = try FileDescriptor.readFully(rollup.number, into: buffer, at: 0)
        return try ProcessMemory.Proportional(rollup: buffer[..<count])
    }
}

/// How much memory a process may still use, as the kernel says it: by its control group (cgroup v2)
/// and for the machine. What the kernel does not say is `nil`.
public struct MemorySupply: Hashable, Sendable {
    /// Bytes that the control group may use: the least of `memory.max` and `memory.high`, of it and
    /// of those above it.
    public var limitBytes: Int?
    /// Bytes that it uses and that the kernel cannot take back by dropping files.
    public var usedBytes: Int?
    /// Percent of the last ten seconds in which something in it waited for memory.
    public var stallPercent: Double?
    /// Bytes that the machine can still give.
    public var availableBytes: Int?
    /// Bytes of the machine.
    public var totalBytes: Int?

    /// Knows nothing.
    public init() {}

    /// What the kernel says now. `groups` is where cgroup v2 is mounted, `process` is `/proc`.
    public static func now(
        groups: String = "/sys/fs/cgroup", process: String = "/proc"
    ) -> MemorySupply {
        MemorySupply(groups: groups, process: process)
    }

    private init(groups: String, process: String) {
        let own = Self.ownGroup(process)
        var path = own
        while true {
            for file in ["memory.max", "memory.high"] {
                guard let bytes = Self.number("\(groups)\(path)/\(file)") else { continue }
                limitBytes = min(limitBytes ?? bytes, bytes)
            }
            guard let cut = path.lastIndex(of: "/") else { break }
            path = String(path[..<cut])
        }
        let group = "\(groups)\(own)"
        if let current = Self.number("\(group)/memory.current") {
            let files = Self.field("inactive_file", in: Self.text("\(group)/memory.stat")) ?? 0
            usedBytes = max(0, current - files)
        }
        stallPercent = Self.stall(in: Self.text("\(group)/memory.pressure"))
        let machine = Self.text("\(process)/meminfo")
        availableBytes = Self.field("MemAvailable:", in: machine).map { $0 << 10 }
        totalBytes = Self.field("MemTotal:", in: machine).map { $0 << 10 }
    }

    /// Bytes that the control group of a process may use, by cgroup v2 or v1: the least of its
    /// limit and those above it; `nil` where there is none, or where it cannot be read.
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
            var path = String(parts[2])
            while true {
                limits += [number("\(root)\(path)/\(file)")].compactMap { $0 }
                guard let cut = path.lastIndex(of: "/") else { break }
                path = String(path[..<cut])
            }
        }
        // No limit at all is the largest number of pages in cgroup v1.
        return limits.min().flatMap { $0 < Int(Int64.max >> 1) ? $0 : nil }
    }

    /// The path of the group in cgroup v2, without a slash at its end: `0::/path`.
    private static func ownGroup(_ process: String) -> String {
        let lines = text("\(process)/self/cgroup").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }) else { return "" }
        let path = line.dropFirst(3)
        return path == "/" ? "" : String(path)
    }

    /// `some avg10=1.25 avg60=…`
    private static func stall(in text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix("some ") {
            for part in line.split(separator: " ") where part.hasPrefix("avg10=") {
                return Double(part.dropFirst(6))
            }
        }
        return nil
    }

    private static func field(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count > 1, words[0] == name { return Int(words[1]) }
        }
        return nil
    }

    /// `max` is no number.
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

/// What processes have used of the processors.
public enum ProcessorTime {
    /// Nanoseconds of all threads that a process has now, in user mode and in the kernel
    /// (`/proc/PID/task/*/schedstat`). What threads used that have ended is not in it.
    public static func nanoseconds(of process: ProcessID) throws(Errno) -> UInt64 {
        let threads = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var sum: UInt64 = 0
        for name in try threads.entries(entriesMax: 100_000) {
            // A thread that has ended meanwhile.
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

/// What the threads of a process have had of the processors, and whether they want more: the state
/// of one moment (`/proc/PID/task/*/stat` and `schedstat`).
///
/// Both files are readable for everybody, except where `/proc` is mounted with `hidepid`: then for
/// the own user, and not after a process made itself undumpable. A kernel without
/// `CONFIG_SCHED_INFO` has no `schedstat`: then waits show only in threads that wait now.
public struct ProcessorTurns: Hashable, Sendable {
    /// One thread.
    public struct OfThread: Hashable, Sendable {
        /// Nanoseconds that it ran, in user mode and in the kernel; in steps of 10 ms.
        public var ran: UInt64
        /// Nanoseconds that it was ready to run and waited for a processor. A wait counts when it
        /// is over.
        public var waited: UInt64
        /// It runs, or waits for a processor: it neither sleeps nor is it stopped.
        public var wantsToRun: Bool

        /// States what is known of a thread.
        public init(ran: UInt64, waited: UInt64, wantsToRun: Bool) {
            self.ran = ran
            self.waited = waited
            self.wantsToRun = wantsToRun
        }
    }

    /// When that was, in nanoseconds of the monotonic clock.
    public let takenAt: UInt64
    /// The threads by their numbers.
    public let threads: [Int32: OfThread]

    /// States what is known of threads.
    public init(takenAt: UInt64, threads: [Int32: OfThread]) {
        self.takenAt = takenAt
        self.threads = threads
    }

    /// Asks the kernel. Throws ENOENT or EPERM where the process is not there, or hidden.
    public init(of process: ProcessID) throws(Errno) {
        let folder = try FileDescriptor.open("/proc/\(process)/task", .directory)
        var threads: [Int32: OfThread] = [:]
        for name in try folder.entries(entriesMax: 100_000) {
            // A thread that has ended meanwhile.
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

    /// Nanoseconds since `earlier` in which a thread of the process was ready and did not run; at
    /// most the time that passed.
    ///
    /// The kernel counts a wait once it is over. Of a thread that wants to run now, all is a wait
    /// that it did not run.
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

    /// The same by what the kernel has counted: for the process that asks, whose own thread runs.
    public func waitedUntilItRan(since earlier: ProcessorTurns) -> UInt64 {
        let ended = threads.mapValues {
            OfThread(ran: $0.ran, waited: $0.waited, wantsToRun: false)
        }
        return ProcessorTurns(takenAt: takenAt, threads: ended).waited(since: earlier)
    }
}

extension ProcessorTurns.OfThread {
    /// Fields of `stat` behind the name of the program, which may contain anything: the state, and
    /// the ticks in user mode and in the kernel.
    private static let (stateField, userField, kernelField) = (0, 11, 12)
    /// A tick of `stat`, the same on every machine (`USER_HZ`).
    private static let tickNanoseconds: UInt64 = 10_000_000

    /// Reads what the kernel says of a thread; nil for anything else.
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
    /// 0 where the other is larger: counters of the kernel are read one after the other.
    fileprivate func minus(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
