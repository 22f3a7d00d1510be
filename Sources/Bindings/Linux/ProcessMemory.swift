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
