import CLinux

/// What one waits for on a descriptor.
public enum WaitDirection: Sendable {
    /// Bytes, an end of file, an event.
    case readable
    /// Room for bytes.
    case writable
}

extension FileDescriptor {
    /// Waits for one descriptor (poll); false when the time is over.
    ///
    /// nil waits without limit. An interrupted wait starts anew with the full time: loops that
    /// need exact deadlines use `ZeroMQ.PollSet`.
    public borrowing func wait(
        for direction: WaitDirection, milliseconds: Int?
    ) throws(Errno) -> Bool {
        let number = number
        let limit = milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
        return try syscall { clinux_poll(number, direction == .writable, limit) } > 0
    }
}
