import Glibc

/// A non-blocking pipe: an event that can be polled beside a socket.
///
/// A socket pair, since it takes the close-on-exec flag in the same call.
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

    /// Puts `count` bytes in, at most what fits (some 200 KB).
    func put(_ count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        _ = write(writeEnd, bytes, count)
    }

    /// Takes one byte out; false where there is none.
    func take() -> Bool {
        var byte: UInt8 = 0
        return read(readEnd, &byte, 1) == 1
    }
}
