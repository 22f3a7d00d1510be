import Linux

/// The pipe to which the native libraries of one child write.
final class OutputPipe {
    private let pipe: ChildPipe
    private var lines = NativeLines()
    private var isPaused = false

    /// Bytes that are read at a time, so that a child that writes a lot does not delay the others.
    private static let readMax = 16 << 10
    /// Reads of what a child that ended has left: what a pipe takes.
    private static let readsAtEnd = 4

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        pipe = try ChildPipe(readEnd)
    }

    /// What to poll, while there is anything to hear. Nothing for a while if the budget is spent:
    /// the pipe fills up, and costs neither side anything.
    var number: Int32? { isPaused ? nil : pipe.number }

    /// Polls it again, about once a second.
    func resume() { isPaused = false }

    /// What was written since the last call, as far as it goes to the log; `isOver` if the child
    /// has ended, so that nothing more comes of it.
    func take(isOver: Bool, at nanoseconds: UInt64) -> [String] {
        var read: [String] = []
        for _ in 0..<(isOver ? Self.readsAtEnd : 1) {
            read += lines.take(pipe.read(upTo: Self.readMax), at: nanoseconds)
        }
        isPaused = lines.isSpent
        if isOver || pipe.number == nil { read += lines.end(at: nanoseconds) }
        return read
    }
}
