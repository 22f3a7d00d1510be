import CLinux

// The same transfers for callers that hold spans and arrays instead of raw pointers.
extension FileDescriptor {
    /// Reads to the end; throws `Errno.fileTooLarge` when there are more than `bytesMax`.
    public borrowing func readToEnd(bytesMax: Int) throws(Errno) -> [UInt8] {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(bytesMax + 1, 65_536), alignment: 16)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = try read(into: chunk)
            if count == 0 { return bytes }
            if bytes.count + count > bytesMax { throw .fileTooLarge }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Reads into the span from `offset` on; returns the count, less than asked only at the end.
    public borrowing func readFully(
        into span: inout MutableRawSpan, at offset: Int
    ) throws(Errno) -> Int {
        // A typed throw does not pass through the closure of a borrowed owner: go by the number.
        let number = number
        return try span.withUnsafeMutableBytes { (buffer) throws(Errno) in
            try Self.readFully(number, into: buffer, at: offset)
        }
    }

    /// Writes all of the bytes.
    public borrowing func writeAll(_ bytes: RawSpan) throws(Errno) {
        let number = number
        try bytes.withUnsafeBytes { (raw) throws(Errno) in try Self.writeAll(raw, to: number) }
    }

    /// Writes all of the bytes.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(Errno) {
        try writeAll(bytes.span.bytes)
    }

    /// Writes all of the bytes from `offset` on without moving the file's own offset.
    public borrowing func writeAll(_ bytes: RawSpan, at offset: Int) throws(Errno) {
        let number = number
        try bytes.withUnsafeBytes { (raw) throws(Errno) in
            try Self.writeAll(raw, to: number, at: offset)
        }
    }
}
