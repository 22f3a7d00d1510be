internal import CCurl
internal import Glibc
internal import Synchronization

/// Many transfers on one thread: a `CURLM *`.
///
/// It uses `curl_multi_poll` and `curl_multi_perform` rather than the socket and timer callbacks:
/// the download worker has a dedicated thread, the worker's credit bounds the poll to a few hundred
/// sockets, and `curl_multi_wakeup` is all that other threads need.
public struct TransferSet: ~Copyable {
    private let multi: MultiHandle
    private let library: CurlLibrary
    private var policy: TransferPolicy
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    /// Creates an empty set.
    public init(_ library: CurlLibrary, policy: TransferPolicy) throws(CurlError) {
        let multi = try MultiHandle()
        try multi.check(
            ccurl_multi_set_long(
                multi.pointer, CURLMOPT_MAXCONNECTS, TransferPolicy.idleConnectionsMax))
        self.multi = multi
        self.library = library
        self.policy = policy
    }

    deinit {
        for easy in transfers.keys { curl_multi_remove_handle(multi.pointer, easy) }
    }

    /// The number of transfers in flight.
    public var count: Int { transfers.count }

    /// A handle that wakes `wait` from any thread.
    public var waker: TransferWaker { TransferWaker(multi: multi) }

    /// Applies a policy to transfers started from now on. The address guard stays as it is, since
    /// connections are shared.
    public mutating func adopt(_ policy: TransferPolicy) {
        let addressGuard = self.policy.addressGuard
        self.policy = policy
        self.policy.addressGuard = addressGuard
    }

    /// Creates an empty cookie jar.
    public func makeJar() throws(CurlError) -> CookieJar { try CookieJar(library) }

    /// Starts a transfer. Nothing is sent before the next `perform`. The sink is retained until the
    /// transfer is released.
    public mutating func start(
        _ request: TransferRequest, into sink: any TransferSink
    ) throws(CurlError) -> Transfer {
        let transfer = try Transfer(request, policy: policy, sink: sink, library: library)
        try multi.check(curl_multi_add_handle(multi.pointer, transfer.easy.pointer))
        transfers[transfer.easy.pointer] = transfer
        return transfer
    }

    /// Ends a transfer immediately. Its connection is closed unless it's shared. No effect if the
    /// transfer has ended.
    public mutating func abort(_ transfer: Transfer) {
        guard transfers.removeValue(forKey: transfer.easy.pointer) != nil else { return }
        curl_multi_remove_handle(multi.pointer, transfer.easy.pointer)
    }

    /// Resumes a transfer whose sink postponed bytes, and delivers them now. No effect if the
    /// transfer has ended. Throws the error that ended it; it still belongs to the set.
    public mutating func resume(_ transfer: Transfer) throws(CurlError) {
        let easy = transfer.easy.pointer
        guard transfers[easy] != nil else { return }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        if let error = transfer.error(code) { throw error }
    }

    /// Makes libcurl read from a transfer's connection as if it had just been resumed. Restarts the
    /// low-speed timer. No effect without a connection, or if the transfer has ended. Throws the
    /// error that ended it; it still belongs to the set.
    public mutating func nudge(_ transfer: Transfer) throws(CurlError) {
        let easy = transfer.easy.pointer
        guard transfers[easy] != nil, transfer.hasAsked else { return }
        // Resuming a transfer that isn't paused has no effect.
        let code = curl_easy_pause(easy, CURLPAUSE_RECV)
        guard code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        if let error = transfer.error(code) { throw error }
        try resume(transfer)
    }

    /// Does all work that is possible without waiting, reading up to 256 KiB of each connection.
    /// Calls sinks.
    public mutating func perform() throws(CurlError) {
        TurnBudget.beginTurn()
        var running: Int32 = 0
        try multi.check(curl_multi_perform(multi.pointer, &running))
    }

    /// Waits for a socket event, one of libcurl's timeouts, a wake-up, or until `milliseconds` have
    /// passed.
    public func wait(milliseconds: Int) throws(CurlError) {
        try multi.check(
            curl_multi_poll(multi.pointer, nil, 0, Int32(clamping: max(0, milliseconds)), nil))
    }

    /// Removes the next ended transfer from the set and returns it with its error, or `nil` if it
    /// succeeded. Returns `nil` if no transfer has ended.
    public mutating func nextEnded() -> (transfer: Transfer, error: CurlError?)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle
            else { continue }
            let code = message.pointee.data.result
            // Removing the handle invalidates the message.
            curl_multi_remove_handle(multi.pointer, easy)
            guard let transfer = transfers.removeValue(forKey: easy) else { continue }
            if code == CURLE_OK { transfer.settle() }
            return (transfer, transfer.error(code))
        }
        return nil
    }
}

/// Ends the current or the next `TransferSet.wait`. Usable from any thread.
public struct TransferWaker: Sendable {
    let multi: MultiHandle

    /// Wakes the set. The set may have been released already.
    public func wake() {
        curl_multi_wakeup(multi.pointer)
    }
}

/// Owns a `CURLM *`, shared by the set and its wakers.
///
/// Sendable: wakers only call `curl_multi_wakeup`, the one function of a multi handle that any
/// thread may call (curl_multi_wakeup(3)); the set is one noncopyable owner on one thread.
final class MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init() throws(CurlError) {
        guard let pointer = curl_multi_init() else { throw CurlError(CURLM_OUT_OF_MEMORY) }
        self.pointer = pointer
    }

    deinit {
        curl_multi_cleanup(pointer)
    }

    func check(_ code: CURLMcode) throws(CurlError) {
        guard code == CURLM_OK else { throw CurlError(code) }
    }
}

/// Bounds the bytes that one turn of a set reads from each of its connections.
///
/// libcurl, nghttp2 and OpenSSL keep going within one call as long as a connection has bytes for
/// them. An origin that sends TLS records or HTTP/2 frames without body bytes, faster than they are
/// parsed, would keep the single transfer thread in that call. libcurl reads sockets with `recv`,
/// which programs that link this module define themselves: a connection that has used up its share
/// looks empty until the next turn.
enum TurnBudget {
    /// The largest number of bytes read per connection and turn: some milliseconds of work in the
    /// worst case.
    static let bytesMax = 256 << 10

    /// The turn counter. A set on another thread that increments it only enlarges the budget.
    private static let turn = Atomic<UInt32>(1)

    /// For each descriptor, the turn that last read it and the bytes read; 0 if it isn't a
    /// connection of a set. Allocated for the lifetime of the process; all entries are atomic.
    nonisolated(unsafe) private static let used: UnsafeMutablePointer<Atomic<UInt64>> = {
        let table = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: descriptorsMax)
        for index in 0..<descriptorsMax { (table + index).initialize(to: Atomic(0)) }
        return table
    }()

    /// Far above the number of transfers and idle connections of a set.
    private static let descriptorsMax = 16_384

    /// Starts a turn: every connection has its full share again.
    static func beginTurn() { turn.add(1, ordering: .relaxed) }

    /// Limits reads from a socket until `close`. Returns `false` if the descriptor is out of range.
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

    /// Returns the number of bytes that may still be read from a socket in this turn, or `nil` if
    /// it isn't watched.
    static func left(of descriptor: Int32) -> Int? {
        guard (0..<descriptorsMax).contains(Int(descriptor)) else { return nil }
        let entry = used[Int(descriptor)].load(ordering: .relaxed)
        guard entry != 0 else { return nil }
        guard entry >> 32 == UInt64(now) else { return bytesMax }
        return bytesMax - Int(entry & 0x7FFF_FFFF)
    }

    /// Records that `count` bytes were read from a watched socket when `left` bytes were allowed.
    static func took(_ count: Int, of descriptor: Int32, leaving left: Int) {
        used[Int(descriptor)].store(pack(now, bytesMax - left + count), ordering: .relaxed)
    }

    private static var now: UInt32 { turn.load(ordering: .relaxed) }

    /// Packs a table entry; never 0.
    private static func pack(_ turn: UInt32, _ bytes: Int) -> UInt64 {
        UInt64(turn) << 32 | 1 << 31 | UInt64(bytes)
    }
}

extension CurlLibrary {
    /// Whether libcurl calls this program's `recv`. That requires the linker to export it to shared
    /// libraries, and no library to precede the program in symbol lookup.
    public static var readsInTurns: Bool {
        let own: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int32) -> Int = recv
        return dlsym(nil, "recv") == unsafeBitCast(own, to: UnsafeMutableRawPointer.self)
    }
}

/// Implements `recv(2)` for this program, including its libraries: the turn's share for connections
/// of a set, everything available for other sockets.
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
