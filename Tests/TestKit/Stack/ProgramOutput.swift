import Linux

/// The output of a program on a pipe, as far as it has been read.
final class ProgramOutput {
    private let descriptor: FileDescriptor
    private(set) var bytes: [UInt8] = []

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// The result of a wait for more output.
    enum Event {
        case more
        case end
        case timeout
    }

    /// The complete lines so far.
    var lines: [String] {
        String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .dropLast().map(String.init)
    }

    /// Reads the next bytes.
    func readMore(within limit: Duration) throws -> Event {
        guard Poll.wait([.readable(descriptor.number)], timeout: limit) != nil else {
            return .timeout
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        let count = try descriptor.read(into: buffer)
        bytes += buffer[..<count]
        return count > 0 ? .more : .end
    }
}
