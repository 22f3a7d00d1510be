import Linux

/// What a process uses at one moment.
public struct ProcessMetrics: Sendable, CustomStringConvertible {
    /// Bytes in memory that are of no file and no segment of the arena (`Pss_Anon`): its share of a
    /// program and of libraries depends on how many other processes run them.
    public let bytes: Int
    /// Bytes of segments that it has mapped and touched, its share of them (`Pss_Shmem`).
    public let sharedBytes: Int
    /// Open descriptors.
    public let descriptors: Int

    /// Looks at a process; throws where it has ended.
    public init(of process: Int32) throws {
        sharedBytes = Int(try ProcessMemory.proportional(of: process).shared)
        let rollup = FileBytes.text("/proc/\(process)/smaps_rollup") ?? ""
        let line = rollup.split(separator: "\n").first { $0.hasPrefix("Pss_Anon:") }
        guard let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw StackFailure("process \(process) does not say what it has in memory") }
        bytes = kilobytes << 10
        descriptors = DirectoryEntries.names("/proc/\(process)/fd").count
    }

    /// How many threads a process has at the moment; 0 once it has ended.
    public static func threadCount(of process: Int32) -> Int {
        let lines = (FileBytes.text("/proc/\(process)/status") ?? "").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("Threads:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }

    /// For tables and failed expectations.
    public var description: String {
        "\(bytes >> 10) KB, shared \(sharedBytes >> 10) KB, \(descriptors) descriptors"
    }

    /// What the same process may use later without having grown: a tenth and 4 MB more.
    public var bytesLimit: Int { bytes + bytes / 10 + (4 << 20) }
}
