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
