import CLinux

extension FileDescriptor {
    /// A file in memory that has these bytes for ever and no path (memfd, sealed). Each process
    /// that inherits it reads them with `sealedBytes`.
    public static func sealed(_ bytes: [UInt8], name: String) throws(Errno) -> FileDescriptor {
        let file = FileDescriptor(owning: try syscall { clinux_memory_file(name) })
        try file.writeAll(bytes)
        let number = file.number
        try syscall { clinux_seal(number) }
        return file
    }

    /// The bytes of a sealed file, `bytesMax` at most; other owners of the file have them still.
    public borrowing func sealedBytes(bytesMax: Int) throws(Errno) -> [UInt8] {
        let count = try status().size
        guard count <= bytesMax else { throw .fileTooLarge }
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        guard try readFully(into: &raw, at: 0) == count else { throw .fileTooLarge }
        return bytes
    }
}
