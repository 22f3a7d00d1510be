internal import CCurl

// What libcurl calls, on the thread that drives the set. Each finds the context of its transfer
// and answers in libcurl's way; no Swift error passes through C.

func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    let total = size * count
    guard let context = TransferContext.at(userData), let bytes else { return 0 }
    switch context.receiveBody(UnsafeRawBufferPointer(start: bytes, count: total)) {
    case .taken: return total
    case .postponed: return Int(CURL_WRITEFUNC_PAUSE)
    case .refused: return refusal(of: total)
    }
}

func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    let total = size * count
    guard let context = TransferContext.at(userData), let bytes else { return 0 }
    let taken = context.receiveHeaderLine(UnsafeRawBufferPointer(start: bytes, count: total))
    return taken ? total : refusal(of: total)
}

func openSocket(
    _ userData: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = TransferContext.at(userData), let address,
        let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
        let target = SocketAddress(
            UnsafeRawPointer(address) + place, byteCount: Int(address.pointee.addrlen)),
        let descriptor = context.openSocket(
            target, family: address.pointee.family, kind: address.pointee.socktype,
            protocol: address.pointee.protocol)
    else { return -1 }
    return descriptor
}

/// The transfer that opened it may be gone.
func closeSocket(_ userData: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    TurnBudget.close(descriptor)
}

/// Also of a connection that another transfer opened, to an address that this one may not have.
func beforeRequest(
    _ userData: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _ ownAddress: UnsafeMutablePointer<CChar>?, _ port: Int32, _ ownPort: Int32
) -> Int32 {
    guard let context = TransferContext.at(userData), let address,
        context.mayAsk(String(cString: address), port: port)
    else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
}

/// Any other number than `total` ends the transfer, except the one that means pause.
private func refusal(of total: Int) -> Int {
    total == 0 ? 1 : 0
}

extension TransferContext {
    fileprivate static func at(_ userData: UnsafeMutableRawPointer?) -> TransferContext? {
        userData.map { Unmanaged<TransferContext>.fromOpaque($0).takeUnretainedValue() }
    }
}
