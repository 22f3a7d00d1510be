import Linux

/// The end of a pipe to which one child writes. Belongs to one thread.
final class ChildPipe {
    /// None once the child has closed its end, or once `close` was called.
    private var readEnd: FileDescriptor?

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        try readEnd.setNonBlocking()
        self.readEnd = consume readEnd
    }

    /// What to poll; `nil` once it is closed.
    var number: Int32? { readEnd?.number }

    /// Reads no more: the kernel tells a child that goes on writing.
    func close() { readEnd = nil }

    /// What is there, at most so many bytes; empty if nothing is. Closes at the end of the pipe.
    func read(upTo count: Int) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        do throws(Errno) {
            let count = try readEnd?.read(into: buffer) ?? 0
            if count == 0 { readEnd = nil }
            return Array(buffer[..<count])
        } catch .wouldBlock {
            return []
        } catch {
            readEnd = nil
            return []
        }
    }
}
