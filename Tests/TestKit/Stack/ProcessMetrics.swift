import Linux

/// The resources of a process at one moment.
public struct ProcessMetrics: Sendable, CustomStringConvertible {
    /// Bytes of memory that belong neither to a file nor to a segment of the arena (`Pss_Anon`).
    /// File-backed memory isn't counted, since the share of a process depends on how many others
    /// use the same program and libraries.
    public let bytes: Int
    /// The process' share of the segments that it has mapped and touched, in bytes (`Pss_Shmem`).
    public let sharedBytes: Int
    /// The number of open descriptors.
    public let descriptors: Int

    /// Measures a process; throws if it has ended.
    public init(of process: Int32) throws {
        sharedBytes = Int(try ProcessMemory.proportional(of: process).shared)
        let rollup = FileBytes.text("/proc/\(process)/smaps_rollup") ?? ""
        let line = rollup.split(separator: "\n").first { $0.hasPrefix("Pss_Anon:") }
        guard let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw StackFailure("process \(process) does not say what it has in memory") }
        bytes = kilobytes << 10
        descriptors = DirectoryEntries.names("/proc/\(process)/fd").count
    }

    /// The number of threads of a process; 0 if it has ended.
    public static func threadCount(of process: Int32) -> Int {
        let lines = (FileBytes.text("/proc/\(process)/status") ?? "").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("Threads:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }

    /// The measurements as text, for tables and failed expectations.
    public var description: String {
        "\(bytes >> 10) KB, shared \(sharedBytes >> 10) KB, \(descriptors) descriptors"
    }

    /// The memory limit for a later measurement of the same process: 10 % and 4 MB more than this
    /// one.
    public var bytesLimit: Int { bytes + bytes / 10 + (4 << 20) }
}
