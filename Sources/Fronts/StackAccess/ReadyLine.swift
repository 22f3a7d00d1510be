import Linux

/// The line that `serve` prints when all its processes are there.
final class ReadyLine {
    private let descriptor: FileDescriptor
    private var bytes: [UInt8] = []

    private static let bytesMax = 4096

    /// Takes the pipe that is the standard output of `serve`.
    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// What to poll.
    var number: Int32 { descriptor.number }

    /// Reads what is there, without waiting; whether the whole line has come.
    func isComplete() throws(Errno) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer { buffer.deallocate() }
        while try descriptor.wait(for: .readable, milliseconds: 0) {
            let count = try descriptor.read(into: buffer)
            if count == 0 { break }
            bytes += buffer[..<count]
            if bytes.count > Self.bytesMax { throw .fileTooLarge }
        }
        return bytes.starts(with: "ready ".utf8) && bytes.contains(UInt8(ascii: "\n"))
    }
}
