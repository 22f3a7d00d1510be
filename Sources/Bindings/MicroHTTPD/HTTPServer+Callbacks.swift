internal import CMicroHTTPD

// What libmicrohttpd calls. Objects travel through its `void *` with a reference of their own:
// the exchange from the first line to the end of the request, the body as long as its response.

/// The first line of a request was read.
func beginRequest(
    _: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    let exchange = HTTPExchange(target: target.map { String(cString: $0) } ?? "/")
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// The head of a request was read; later calls bring what came with it, the last one nothing. An
/// answer to the first call would close the connection.
func answerRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let slot, let method,
        let exchange = slot.pointee.map({ Unmanaged<HTTPExchange>.fromOpaque($0) })
    else { return .NO }
    guard exchange.takeUnretainedValue().isHeadRead, count?.pointee == 0 else {
        exchange.takeUnretainedValue().isHeadRead = true
        count?.pointee = 0
        return .YES
    }
    let request = HTTPRequest(
        method: String(cString: method), target: exchange.takeUnretainedValue().target)
    guard request.method == "GET" || request.method == "HEAD" else {
        return queue(HTTPResponse(status: 405), connection)
    }
    let server = Unmanaged<HTTPServerContext>.fromOpaque(context).takeUnretainedValue()
    let response = server.answer(request)
    exchange.takeUnretainedValue().ended = response.ended
    return queue(response, connection)
}

/// A request is over, however it ended.
func endRequest(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue()
    switch code {
    case .REQUEST_TERMINATED_COMPLETED_OK: exchange.ended?(.complete)
    case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: exchange.ended?(.stopped)
    default: exchange.ended?(.peerLeft)
    }
}

private func queue(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    let body = HTTPBody(response, socket: cmicrohttpd_socket(connection))
    let pointer = Unmanaged.passRetained(body).toOpaque()
    let made = MHD_create_response_from_callback(
        UInt64(response.body.count), 64 * 1024, readBody, pointer, freeBody)
    guard let made else {
        freeBody(pointer)
        return .NO
    }
    defer { MHD_destroy_response(made) }
    for header in response.headers
    where MHD_add_response_header(made, header.name, header.value) == .NO {
        return .NO
    }
    return MHD_queue_response(connection, UInt32(response.status), made)
}

private func readBody(
    _ body: UnsafeMutableRawPointer?, _ place: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int
) -> Int {
    guard let body, let buffer else { return -2 }
    return Unmanaged<HTTPBody>.fromOpaque(body).takeUnretainedValue()
        .read(at: place, into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

private func freeBody(_ body: UnsafeMutableRawPointer?) {
    if let body { Unmanaged<HTTPBody>.fromOpaque(body).release() }
}
