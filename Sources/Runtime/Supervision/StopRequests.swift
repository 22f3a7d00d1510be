public import Linux

/// Where a supervisor hears that it should stop, or have its configuration loaded anew.
public enum StopRequests: ~Copyable {
    /// Each SIGTERM and SIGINT, and SIGHUP for the configuration, blocked in all threads before.
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

    /// What came since the last call.
    struct Taken {
        /// How often it should stop.
        var stops = 0
        /// Whether the configuration is to be loaded anew.
        var reloads = false
    }

    /// What came since the last call.
    borrowing func take() throws(Errno) -> Taken {
        switch self {
        case .signals(let source):
            var taken = Taken()
            while let received = try source.next() {
                if received.signal == .hangUp { taken.reloads = true } else { taken.stops += 1 }
            }
            return taken
        case .pipe(let readEnd):
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
            defer { buffer.deallocate() }
            // One at a time; at the pipe's end again and again, so that the second ends all now.
            _ = try readEnd.read(into: buffer)
            return Taken(stops: 1)
        }
    }
}
