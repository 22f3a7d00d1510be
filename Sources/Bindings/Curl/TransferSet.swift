internal import CCurl
internal import Glibc
internal import Synchronization

/// Many transfers on one thread: a `CURLM *`.
///
/// Driven with `curl_multi_poll` and `curl_multi_perform` rather than the socket and timer
/// callbacks: the download worker has a thread for nothing else, the poll is bounded by the
/// worker's credit (some hundred sockets), and `curl_multi_wakeup` is the one thing that other
/// threads need.
public struct TransferSet: ~Copyable {
    private let multi: MultiHandle
    private let library: CurlLibrary
    private var policy: TransferPolicy
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    /// A set without transfers.
    public init(_ library: CurlLibrary, policy: TransferPolicy) throws(CurlError) {
        let multi = try MultiHandle()
        try multi.check(
            ccurl_multi_set_long(multi.pointer, CURLMOPT_MAXCONNECTS, policy.idleConnectionsMax))
        self.multi = multi
        self.library = library
        self.policy = policy
    }

    deinit {
        for easy in transfers.keys { curl_multi_remove_handle(multi.pointer, easy) }
    }

    /// How many transfers have been started and have not ended.
    public var count: Int { transfers.count }

    /// What wakes `wait` from any thread.
    public var waker: TransferWaker { TransferWaker(multi: multi) }

    /// What holds for transfers that are started from now on. Which addresses may be connected to
    /// stays, since connections are shared.
    public mutating func adopt(_ policy: TransferPolicy) {
        let addressGuard = self.policy.addressGuard
        self.policy = policy
        self.policy.addressGuard = addressGuard
    }

    /// An empty jar of cookies.
    public func makeJar() throws(CurlError) -> CookieJar { try CookieJar(library) }

    /// Starts a transfer; nothing is sent before the next `perform`. The sink is held until the
    /// transfer is let go.
    public mutating func start(
        _ request: TransferRequest, into sink: any TransferSink
    ) throws(CurlError) -> Transfer {
        let transfer = try Transfer(request, policy: policy, sink: sink, library: library)
        try multi.check(curl_multi_add_handle(multi.pointer, transfer.easy.pointer))
        transfers[transfer.easy.pointer] = transfer
        return transfer
    }

    /// Ends a transfer now: its connection is closed unless others share it. Nothing for one that
    /// has ended.
    public mutating func abort(_ transfer: Transfer) {
        guard transfers.removeValue(forKey: transfer.easy.pointer) != nil else { return }
        curl_multi_remove_handle(multi.pointer, transfer.easy.pointer)
    }

    /// Goes on with a transfer whose sink postponed bytes: it gets them now. Nothing for one that
    /// has ended. Throws what ended it; it still belongs to the set.
    public mutating func resume(_ transfer: Transfer) throws(CurlError) {
        let easy = transfer.easy.pointer
        guard transfers[easy] != nil else { return }
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        if let error = transfer.error(code) { throw error }
    }

    /// Has libcurl read from the connection of a transfer, as if that was resumed now. Nothing for
    /// one without a connection, or that has ended. Begins the time anew for which it may be slow.
    /// Throws what ended it; it still belongs to the set.
    public mutating func nudge(_ transfer: Transfer) throws(CurlError) {
        let easy = transfer.easy.pointer
        guard transfers[easy] != nil, transfer.hasAsked else { return }
        // To resume what is not paused does nothing.
        let code = curl_easy_pause(easy, CURLPAUSE_RECV)
        guard code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        if let error = transfer.error(code) { throw error }
        try resume(transfer)
    }

    /// Does what can be done without waiting, and reads up to 256 KiB of each connection; calls
    /// sinks.
    public mutating func perform() throws(CurlError) {
        TurnBudget.beginTurn()
        var running: Int32 = 0
        try multi.check(curl_multi_perform(multi.pointer, &running))
    }

    /// Waits for a socket, a timeout of libcurl's own, a wake-up, or `milliseconds`.
    public func wait(milliseconds: Int) throws(CurlError) {
        try multi.check(
            curl_multi_poll(multi.pointer, nil, 0, Int32(clamping: max(0, milliseconds)), nil))
    }

    /// The next transfer that has ended, with its error or nil; nil where none has. It no longer
    /// belongs to the set.
    public mutating func nextEnded() -> (transfer: Transfer, error: CurlError?)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle
            else { continue }
            let code = message.pointee.data.result
            // The message dies with the removal.
            curl_multi_remove_handle(multi.pointer, easy)
            guard let transfer = transfers.removeValue(forKey: easy) else { continue }
            if code == CURLE_OK { transfer.settle() }
            return (transfer, transfer.error(code))
        }
        return nil
    }
}

/// Ends the current or the next `TransferSet.wait`. Any thread.
public struct TransferWaker: Sendable {
    let multi: MultiHandle

    /// Wakes the set, which may have been left already.
    public func wake() {
        curl_multi_wakeup(multi.pointer)
    }
}

/// Owns a `CURLM *`, which the set and its wakers share.
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
