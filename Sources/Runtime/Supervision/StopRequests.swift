public import Linux

/// Where a supervisor hears that it should stop.
public enum StopRequests: ~Copyable {
    /// Each SIGTERM and SIGINT, blocked in all threads before.
    case signals(SignalDescriptor)
    /// Each byte of a pipe, for supervisors inside another program; its end stops at once.
    case pipe(FileDescriptor)

    /// The signals that stop a stack.
    public static let stopSignals: [Signal] = [.terminate, .interrupt]

    /// Readable when there is a request.
    var descriptorNumber: Int32 {
        switch self {
        case .signals(let source): source.descriptor.number
        case .pipe(let readEnd): readEnd.number
        }
    }

    /// How many came since the last call.
    borrowing func take() throws(Errno) -> Int {
        switch self {
        case .signals(let source):
            var count = 0
            while try source.next() != nil { count += 1 }
            return count
        case .pipe(let readEnd):
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
            defer { buffer.deallocate() }
            // One at a time; at the pipe's end again and again, so that the second ends all now.
            _ = try readEnd.read(into: buffer)
            return 1
        }
    }
}
