import Linux

/// What a process uses at one moment.
public struct ProcessFigures: Sendable, CustomStringConvertible {
    /// Bytes in memory without segments of the arena (`Pss` less `Pss_Shmem`).
    public let bytes: Int
    /// Bytes of segments that it has mapped and touched, its share of them (`Pss_Shmem`).
    public let sharedBytes: Int
    /// Open descriptors.
    public let descriptors: Int

    /// Looks at a process; throws where it has ended.
    public init(of process: Int32) throws {
        let memory = try ProcessMemory.proportional(of: process)
        bytes = Int(memory.total) - Int(memory.shared)
        sharedBytes = Int(memory.shared)
        descriptors = DirectoryEntries.names("/proc/\(process)/fd").count
    }

    /// For tables and failed expectations.
    public var description: String {
        "\(bytes >> 10) KB, shared \(sharedBytes >> 10) KB, \(descriptors) descriptors"
    }

    /// What the same process may use later without having grown: a tenth and 4 MB more.
    public var bytesLimit: Int { bytes + bytes / 10 + (4 << 20) }
}
