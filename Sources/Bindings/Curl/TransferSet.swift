internal import CCurl

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
