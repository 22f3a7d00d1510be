import Glibc

/// A non-blocking pipe: an event that can be polled together with a socket.
///
/// It is a socket pair, since that call can set the close-on-exec flag.
final class Pipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "socketpair: \(errno)")
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Writes `count` bytes, or as many as fit (about 200 KB).
    func put(_ count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        _ = write(writeEnd, bytes, count)
    }

    /// Reads one byte. Returns false if there is none.
    func receive() -> Bool {
        var byte: UInt8 = 0
        return read(readEnd, &byte, 1) == 1
    }
}
