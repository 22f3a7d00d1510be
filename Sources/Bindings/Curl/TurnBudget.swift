internal import CCurl
internal import Glibc
internal import Synchronization

/// How many bytes one turn of a set reads from each of its connections.
///
/// libcurl, nghttp2 and OpenSSL go on within one call as long as a connection has bytes for them.
/// An origin that sends messages of TLS or frames of HTTP/2 without a byte of a body, faster than
/// they are parsed, would keep the one thread of all transfers in that call. libcurl reads sockets
/// by `recv`, which programs with this module define themselves: a connection that had its share
/// looks empty until the next turn.
enum TurnBudget {
    /// Bytes of a connection in one turn: some milliseconds of the worst that can be in them.
    static let bytesMax = 256 << 10

    /// Counts turns; that of a set in another thread only makes the budget larger.
    private static let turn = Atomic<UInt32>(1)

    /// By descriptor: the turn that read it last, and how many bytes; 0: no connection of a set.
    /// Lives as long as the process; all of it is atomic.
    nonisolated(unsafe) private static let used: UnsafeMutablePointer<Atomic<UInt64>> = {
        let table = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: descriptorsMax)
        for index in 0..<descriptorsMax { (table + index).initialize(to: Atomic(0)) }
        return table
    }()

    /// Far above the transfers and idle connections of a set.
    private static let descriptorsMax = 16_384

    /// Everything has its share again.
    static func beginTurn() { turn.add(1, ordering: .relaxed) }

    /// Bounds what is read from a socket until `close`; false for a descriptor beyond all bounds.
    static func watch(_ descriptor: Int32) -> Bool {
        guard (0..<descriptorsMax).contains(Int(descriptor)) else { return false }
        used[Int(descriptor)].store(pack(now, 0), ordering: .relaxed)
        return true
    }

    /// Closes a watched socket.
    static func close(_ descriptor: Int32) -> Int32 {
        if (0..<descriptorsMax).contains(Int(descriptor)) {
            used[Int(descriptor)].store(0, ordering: .relaxed)
        }
        return Glibc.close(descriptor)
    }

    /// Bytes that may still be read from a socket in this turn; `nil` for one that is not watched.
    static func left(of descriptor: Int32) -> Int? {
        guard (0..<descriptorsMax).contains(Int(descriptor)) else { return nil }
        let entry = used[Int(descriptor)].load(ordering: .relaxed)
        guard entry != 0 else { return nil }
        guard entry >> 32 == UInt64(now) else { return bytesMax }
        return bytesMax - Int(entry & 0x7FFF_FFFF)
    }

    /// So many bytes were read from a watched socket, and left so many.
    static func took(_ count: Int, of descriptor: Int32, leaving left: Int) {
        used[Int(descriptor)].store(pack(now, bytesMax - left + count), ordering: .relaxed)
    }

    private static var now: UInt32 { turn.load(ordering: .relaxed) }

    /// Never 0.
    private static func pack(_ turn: UInt32, _ bytes: Int) -> UInt64 {
        UInt64(turn) << 32 | 1 << 31 | UInt64(bytes)
    }
}

extension CurlLibrary {
    /// Whether libcurl reads by the `recv` of this program. It does where the linker shows that to
    /// libraries, and no library comes before the program.
    public static var readsInTurns: Bool {
        let own: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int32) -> Int = recv
        return dlsym(nil, "recv") == unsafeBitCast(own, to: UnsafeMutableRawPointer.self)
    }
}

/// What `recv(2)` does in this program, for libraries as well: of a connection of a set the turn's
/// share, of other sockets whatever is there.
@c @implementation
public func ccurl_receive_within_turn(
    _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int, _ flags: Int32
) -> Int {
    guard let left = TurnBudget.left(of: descriptor) else {
        return ccurl_receive(descriptor, bytes, count, flags)
    }
    guard left > 0 else {
        errno = EAGAIN
        return -1
    }
    let received = ccurl_receive(descriptor, bytes, min(count, left), flags)
    if received > 0, flags & Int32(MSG_PEEK) == 0 {
        TurnBudget.took(received, of: descriptor, leaving: left)
    }
    return received
}
