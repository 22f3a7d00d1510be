internal import CMicroHTTPD

// What libmicrohttpd calls for an evented server. The exchange travels through its `void *` with a
// reference of its own, from the first line to the end of the request.

/// Whether a connection is taken.
func acceptConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _: socklen_t
) -> MHD_Result {
    guard let context, let address else { return .YES }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    return state.accepts(PeerAddress(address)) ? .YES : .NO
}

/// A connection was made, or is gone.
func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let kept else { return }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    switch code {
    case .CONNECTION_NOTIFY_STARTED:
        kept.pointee = Unmanaged.passUnretained(state.begin(connection)).toOpaque()
    default:
        kept.pointee = nil
        state.forget(connection)
    }
}

/// The first line of a request was read.
func beginEvented(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
    _ pointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let pointer, let kept = cmicrohttpd_kept(pointer) else { return nil }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    let connection = Unmanaged<EventedConnection>.fromOpaque(kept).takeUnretainedValue()
    state.awaitRest(of: connection)
    connection.readsHead = true
    let exchange = EventedExchange(
        connection, target.map { String(cString: $0) } ?? "/", state)
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// The library is about to answer a request by itself, or to close its connection.
func noteFailure(
    _ context: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?, _: CVaListPointer?
) {
    guard let context else { return }
    Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue().refuseHeads()
}

/// The head was read; later calls bring the body, the one behind it nothing, and so does each after
/// a wait.
func answerEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _ target: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
    _ bytes: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let slot, let method, let count, let pointer = slot.pointee
    else { return .NO }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    let exchange = Unmanaged<EventedExchange>.fromOpaque(pointer).takeUnretainedValue()
    if !exchange.isHeadRead {
        exchange.isHeadRead = true
        exchange.connection.readsHead = false
        exchange.method = String(cString: method)
        exchange.head = RequestHead(
            exchange.connection.pointer, method: method, target: target, version: version)
        return begin(exchange, state)
    }
    if count.pointee > 0 {
        guard let bytes else { return .NO }
        return take(UnsafeRawBufferPointer(start: bytes, count: count.pointee), count, exchange)
    }
    if exchange.standing == .reading { tell(exchange, state) }
    guard let reply = exchange.reply ?? state.suspend(exchange) else { return .YES }
    if exchange.standing == .waiting { exchange.standing = .answered }
    // What it names is kept by the response alone from here on.
    exchange.reply = nil
    return queue(reply, exchange)
}

/// A head that was answered before is answered so again, and looked at no further. Who may send no
/// body is told that first, whatever its length is. The connection ends behind an answer that comes
/// before its body was read.
private func begin(_ exchange: EventedExchange, _ state: EventedServerState) -> MHD_Result {
    if let reply = state.handler.answerToKnownHead(of: exchange) {
        exchange.isTold = true
        exchange.take(reply)
        exchange.standing = .waiting
        // It is sent in the next call: the library ends connections that are answered in this one.
        return .YES
    }
    let fault = exchange.head.map { $0.fault(of: exchange) } ?? .lines
    var reply = fault?.reply
    if fault == nil || fault == .bodyTooLarge, exchange.announcesBody {
        reply = state.refusalOfBody(exchange) ?? reply
    }
    guard let reply else { return .YES }
    exchange.standing = .answered
    exchange.isLast = true
    return queue(reply, exchange)
}

/// A body beyond its limit is read to its end, but not kept.
private func take(
    _ bytes: UnsafeRawBufferPointer, _ count: UnsafeMutablePointer<Int>,
    _ exchange: EventedExchange
) -> MHD_Result {
    count.pointee = 0
    guard exchange.reply == nil else { return .YES }
    if exchange.body.count + bytes.count > exchange.bodyBytesMax {
        exchange.body = []
        exchange.isLast = true
        exchange.reply = HeadFault.bodyTooLarge.reply
    } else {
        exchange.body += bytes
    }
    return .YES
}

private func tell(_ exchange: EventedExchange, _ state: EventedServerState) {
    exchange.standing = .waiting
    state.awaitAnswer(on: exchange.connection)
    guard exchange.reply == nil else { return }
    exchange.isTold = true
    state.handler.handle(exchange)
}

/// A request is over, however it ended.
func endEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let context, let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    let exchange = Unmanaged<EventedExchange>.fromOpaque(pointer).takeRetainedValue()
    state.awaitRequest(on: exchange.connection)
    exchange.connection.readsHead = false
    exchange.head = nil
    switch code {
    case .REQUEST_TERMINATED_COMPLETED_OK: state.end(exchange, .complete)
    case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: state.end(exchange, .stopped)
    default: state.end(exchange, .peerLeft)
    }
}

private func queue(_ reply: HTTPReply, _ exchange: EventedExchange) -> MHD_Result {
    var reply = reply
    if exchange.isLast { reply.headers.append(("Connection", "close")) }
    if reply.response == nil { reply = reply.prepared() }
    // A header of it cannot be one: whoever asked is told that something is wrong here.
    if reply.response == nil { reply = HTTPReply(status: 500).prepared() }
    guard let response = reply.response else { return .NO }
    exchange.server.awaitReading(of: reply.body.byteCount, on: exchange.connection)
    return MHD_queue_response(exchange.connection.pointer, UInt32(reply.status), response.pointer)
}
