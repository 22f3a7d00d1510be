internal import CCurl
internal import Glibc

/// One transfer of a set, created by `TransferSet.start`. Alive as long as it's referenced.
///
/// It's a class because it has identity. Belongs to the thread that drives the set.
public final class Transfer {
    var easy: EasyHandle
    private let context: TransferContext
    /// Whether it may share a connection with concurrent transfers: TLS may negotiate HTTP/2.
    public let mayShareConnection: Bool
    /// The URL of the proxy in use, or `nil`.
    public let proxy: String?

    init(
        _ request: TransferRequest, policy: TransferPolicy, sink: any TransferSink,
        library: CurlLibrary
    ) throws(CurlError) {
        easy = try EasyHandle(library)
        proxy = policy.proxy
        mayShareConnection = request.isSecure
        context = TransferContext(
            sink: sink,
            addressGuard: policy.proxy == nil
                ? policy.addressGuard.allowing(request.allowedAddresses) : nil,
            bodyBytesMax: request.bodyBytesMax,
            answersDigest: request.authentication.answersDigest)
        try set(request)
        try set(request.authentication)
        try set(policy)
        try setFixedOptions(request)
        try setCallbacks()
    }

    /// The URL of the latest response, including any user info.
    public var effectiveURL: String { easy.string(CURLINFO_EFFECTIVE_URL) ?? "" }

    /// The `Retry-After` delay of the latest response that has one, in seconds from its arrival
    /// (RFC 9110 §10.2.3). `nil` if there was none or it was 0.
    public var retryAfterSeconds: Int64? {
        let seconds = easy.offset(CURLINFO_RETRY_AFTER)
        return seconds > 0 ? seconds : nil
    }

    /// Whether it obtained a connection to send the request on.
    var hasAsked: Bool { easy.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Whether the host name was resolved or an existing connection was reused.
    public var hasFoundName: Bool { hasAsked || nameMicroseconds > 0 }

    /// The number of body bytes received so far, before content codings are decoded.
    public var receivedBytes: Int64 { easy.offset(CURLINFO_SIZE_DOWNLOAD_T) }

    // Timings and counters so far; final once the transfer has ended.

    /// When name resolution finished, relative to the start; 0 if the connection was reused.
    public var nameMicroseconds: Int64 { easy.offset(CURLINFO_NAMELOOKUP_TIME_T) }

    /// When the connection was established, relative to the start; 0 if it was reused.
    public var connectMicroseconds: Int64 { easy.offset(CURLINFO_CONNECT_TIME_T) }

    /// When the TLS handshake finished, relative to the start; 0 without TLS, and if the connection
    /// was reused.
    public var tlsMicroseconds: Int64 { easy.offset(CURLINFO_APPCONNECT_TIME_T) }

    /// When the first byte arrived, relative to the start.
    public var firstByteMicroseconds: Int64 { easy.offset(CURLINFO_STARTTRANSFER_TIME_T) }

    /// Whether an existing connection was reused.
    public var isReused: Bool { easy.long(CURLINFO_NUM_CONNECTS) == 0 }

    /// `127.0.0.1:80` or `[::1]:80`; empty if no connection was made.
    public var address: String {
        guard let ip = easy.string(CURLINFO_PRIMARY_IP), !ip.isEmpty else { return "" }
        let host = ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]" : ip
        return "\(host):\(easy.long(CURLINFO_PRIMARY_PORT))"
    }

    /// `1.0`, `1.1` or `2`; empty if there was no response.
    public var httpVersion: String {
        switch easy.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        default: ""
        }
    }

    /// The status with which the proxy refused a tunnel to the origin, or `nil` if it didn't.
    public var refusedTunnelStatus: Int? {
        let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
        return status == 0 || (200..<300).contains(status) ? nil : status
    }

    /// The address that the guard refused, if that's why no connection was made.
    public var refusedAddress: SocketAddress? { context.refusedAddress }

    private func set(_ request: TransferRequest) throws(CurlError) {
        guard let lines = request.headerLines, !request.url.utf8.contains(0) else {
            throw CurlError(
                CURLE_BAD_FUNCTION_ARGUMENT,
                text: "a header or the URL contains a control character")
        }
        try easy.set(CURLOPT_URL, request.url)
        try easy.setHeaders(lines)
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_TIMEOUT_MS, max(1, request.timeoutMilliseconds))
        // 0 would mean no limit. The context's byte counter stops the transfer at the first byte.
        try easy.set(CURLOPT_MAXFILESIZE_LARGE, max(1, request.bodyBytesMax))
        if !request.verifiesTLS {
            // libcurl only shares connections among transfers with the same verification settings.
            try easy.set(CURLOPT_SSL_VERIFYPEER, 0)
            try easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        guard let signing = request.signing else { return }
        try easy.set(CURLOPT_AWS_SIGV4, signing.provider)
        try easy.set(CURLOPT_USERNAME, signing.accessKeyID)
        try easy.set(CURLOPT_PASSWORD, signing.secretAccessKey)
    }

    private func set(_ authentication: TransferAuthentication) throws(CurlError) {
        if let (method, user, password) = authentication.password {
            try easy.set(
                CURLOPT_HTTPAUTH, method == .digest ? ccurl_auth_digest : ccurl_auth_basic)
            try easy.set(CURLOPT_USERNAME, user)
            try easy.set(CURLOPT_PASSWORD, password)
        }
        if let (path, keyPath) = authentication.certificate {
            try easy.set(CURLOPT_SSLCERT, path)
            try easy.set(CURLOPT_SSLKEY, keyPath)
        }
        if let cookies = authentication.cookies { try easy.share(cookies) }
    }

    /// Called when the transfer has ended: delivers a head that was held back as a challenge.
    func settle() { context.settle() }

    private func set(_ policy: TransferPolicy) throws(CurlError) {
        try easy.set(CURLOPT_USERAGENT, policy.userAgent)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, policy.connectTimeoutMilliseconds)
        try easy.set(CURLOPT_LOW_SPEED_LIMIT, policy.lowSpeedBytesPerSecond)
        try easy.set(CURLOPT_LOW_SPEED_TIME, policy.lowSpeedSeconds)
        // Ignores proxy environment variables, since the guard must see every address. A configured
        // proxy applies to all hosts.
        try easy.set(CURLOPT_PROXY, policy.proxy ?? "")
        try easy.set(CURLOPT_NOPROXY, "")
        // The proxy's response to CONNECT isn't a response of the origin.
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        guard let file = policy.certificatesFile else { return }
        try easy.set(CURLOPT_CAINFO, file)
        // libcurl would trust the system's certificate directory as well.
        try easy.set(CURLOPT_CAPATH, nil)
    }

    private func setFixedOptions(_ request: TransferRequest) throws(CurlError) {
        try easy.set(CURLOPT_NOSIGNAL, 1)
        // Otherwise, ending a transfer during name resolution would block on the resolver (8 s with
        // an unresponsive name server, under 1 ms now) and stall all other transfers. The resolver
        // thread frees its memory when it finishes.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // With TLS, which may negotiate HTTP/2, further transfers to a host wait until the protocol
        // is known and then share the connection. Without TLS they would wait for the first
        // response.
        try easy.set(CURLOPT_PIPEWAIT, request.isSecure ? 1 : 0)
        try easy.set(CURLOPT_BUFFERSIZE, TransferPolicy.bufferBytes)
        // Receivers decode content codings themselves, with limits. libcurl would decode up to five
        // nested codings, each of which can expand the data a thousandfold.
        try easy.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    private func setCallbacks() throws(CurlError) {
        // Unretained: `context` lives as long as `easy`, and only the driving thread invokes
        // callbacks.
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        try easy.set(CURLOPT_WRITEDATA, pointer)
        try easy.set(CURLOPT_HEADERDATA, pointer)
        try easy.set(CURLOPT_OPENSOCKETDATA, pointer)
        try easy.check(ccurl_set_receiver(easy.pointer, CURLOPT_WRITEFUNCTION, receiveBody))
        try easy.check(ccurl_set_receiver(easy.pointer, CURLOPT_HEADERFUNCTION, receiveHeader))
        try easy.check(ccurl_set_socket_opener(easy.pointer, openSocket))
        try easy.check(ccurl_set_socket_closer(easy.pointer, closeSocket))
        try easy.set(CURLOPT_PREREQDATA, pointer)
        try easy.check(ccurl_set_before_request(easy.pointer, beforeRequest))
    }

    /// Whether response bytes arrived but not the end of the head. If a line exceeds libcurl's
    /// length limit, libcurl reports that it's out of memory.
    private var isInsideHead: Bool {
        !context.hasHead && firstByteMicroseconds > 0
    }

    /// The error of an ended transfer. If one of our callbacks ended it, the error has our own
    /// reason.
    func error(_ code: CURLcode) -> CurlError? {
        guard code != CURLE_OK else { return nil }
        let osError = Int32(truncatingIfNeeded: easy.long(CURLINFO_OS_ERRNO))
        if let violation = context.violation { return violation }
        switch code {
        // If libcurl cannot start a thread for a lookup, it reports that the name does not exist.
        case CURLE_COULDNT_RESOLVE_HOST where easy.errorText.contains("() thread failed"):
            return CurlError(CURLE_OUT_OF_MEMORY, text: easy.errorText)
        case CURLE_OUT_OF_MEMORY where isInsideHead:
            return CurlError(
                CURLE_WEIRD_SERVER_REPLY, text: "a line of the response header exceeds its limit")
        // libcurl reports an unreadable status line as an unsupported protocol.
        case CURLE_UNSUPPORTED_PROTOCOL where effectiveURL.hasPrefix("http"):
            return CurlError(CURLE_WEIRD_SERVER_REPLY, text: easy.errorText)
        default: return CurlError(code, text: easy.errorText, osError: osError)
        }
    }
}

/// Receives the response of a transfer. Called on the thread that drives the set.
///
/// Its methods can't throw because libcurl calls them. A sink stores its own error and refuses,
/// which ends the transfer with `CurlError.Code.refusedByReceiver`.
public protocol TransferSink: AnyObject {
    /// Receives the head of the final response; heads of interim responses are skipped. Returns
    /// `false` to refuse it.
    func receive(_ head: ResponseHead) -> Bool

    /// Receives the next bytes of the body, which belong to libcurl and are only valid during the
    /// call. Transfer codings have been decoded, content codings haven't.
    func receive(_ bytes: RawSpan) -> Reception
}

/// How a sink handled bytes of a body.
public enum Reception: Hashable, Sendable {
    /// All bytes were consumed.
    case accepted
    /// No bytes were consumed. The transfer is paused until `TransferSet.resume`, which delivers
    /// the same bytes again.
    case postponed
    /// The sink rejects the rest of the transfer.
    case refused
}

/// The state of one transfer's callbacks: its sink, its counters, and the reason if a callback
/// ended it.
final class TransferContext {
    private let sink: any TransferSink
    /// `nil` if all connections go to a proxy.
    private let addressGuard: AddressGuard?
    private let bodyBytesMax: Int64
    /// Whether libcurl answers the next authentication challenge.
    private var answersDigest: Bool
    /// A challenge's head, held back until it's known whether libcurl answers it.
    private var question: ResponseHead?
    private var head: ResponseHead?
    private var headBytes = 0
    private var bodyBytes: Int64 = 0
    /// Why a callback ended the transfer, if the sink didn't.
    private(set) var violation: CurlError?
    /// The last address that the guard refused, if it permitted none after that.
    private(set) var refusedAddress: SocketAddress?

    /// Whether the final response's head was received completely.
    private(set) var hasHead = false

    init(
        sink: any TransferSink, addressGuard: AddressGuard?, bodyBytesMax: Int64,
        answersDigest: Bool
    ) {
        self.answersDigest = answersDigest
        self.sink = sink
        self.addressGuard = addressGuard
        self.bodyBytesMax = bodyBytesMax
    }

    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= TransferPolicy.headBytesMax else {
            violation = CurlError(
                CURLE_WEIRD_SERVER_REPLY, text: "the response header exceeds its limit")
            return false
        }
        // Within a head such a line is a header field, as in libcurl, and the head stays as it is.
        if head == nil, let started = ResponseHead(statusLine: line) {
            head = started
            return true
        }
        guard line.first == 0x0D || line.first == 0x0A else {
            head?.append(line: line)
            return true
        }
        // An empty line ends the head. Lines after the body are trailers, which are ignored.
        guard let ended = head.take() else { return true }
        return receive(ended)
    }

    private func receive(_ ended: ResponseHead) -> Bool {
        // libcurl would decode any codings it supports, nested and without a limit.
        guard ended.hasPlainFraming else {
            violation = CurlError(
                CURLE_WEIRD_SERVER_REPLY,
                text: "unsupported transfer coding: only chunked is accepted")
            return false
        }
        guard !ended.isInterim else { return true }
        question = nil
        if answersDigest, ended.asksForDigest {
            (answersDigest, question) = (false, ended)
            return true
        }
        hasHead = true
        return sink.receive(ended)
    }

    /// Delivers a challenge that libcurl didn't answer as the response. Returns `false` if the sink
    /// refused it.
    @discardableResult
    func settle() -> Bool {
        guard let question = question.take() else { return true }
        hasHead = true
        return sink.receive(question)
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Reception {
        // libcurl doesn't pass on the body of a challenge that it answers.
        guard settle() else { return .refused }
        guard bodyBytes + Int64(bytes.count) <= bodyBytesMax else {
            violation = CurlError(
                CURLE_FILESIZE_EXCEEDED, text: "the body exceeds its limit")
            return .refused
        }
        let reception = sink.receive(bytes.bytes)
        if reception == .accepted { bodyBytes += Int64(bytes.count) }
        return reception
    }

    /// Whether a request may be sent on a connection to this address. Connections are shared, and
    /// transfers may differ in the addresses they permit.
    func mayAsk(_ address: String, port: Int32) -> Bool {
        guard let addressGuard else { return true }
        let host = String(address.prefix { $0 != "%" })
        guard
            let target = IPAddress(host).flatMap({ ip in
                UInt16(exactly: port).map { SocketAddress(address: ip, port: $0) }
            })
        else { return false }
        guard !addressGuard.permits(target) else { return true }
        refusedAddress = target
        violation = CurlError(
            CURLE_COULDNT_CONNECT, text: "the address of the connection is blocked")
        return false
    }

    /// Returns a socket for the address, or `nil` if the guard refuses it or the system has none
    /// left.
    func openSocket(_ target: SocketAddress, family: Int32, kind: Int32, protocol: Int32) -> Int32?
    {
        guard addressGuard?.permits(target) ?? true else {
            refusedAddress = target
            return nil
        }
        refusedAddress = nil
        let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard descriptor >= 0 else { return nil }
        guard TurnBudget.watch(descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

// The callbacks, called by libcurl on the thread that drives the set. Each looks up the context of
// its transfer and follows libcurl's conventions; Swift errors never cross C.

func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    let total = size * count
    guard let context = TransferContext.at(userData), let bytes else { return 0 }
    switch context.receiveBody(UnsafeRawBufferPointer(start: bytes, count: total)) {
    case .accepted: return total
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

/// The transfer that opened the socket may no longer exist.
func closeSocket(_ userData: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    TurnBudget.close(descriptor)
}

/// Also called for a connection that another transfer opened to an address this one may not use.
func beforeRequest(
    _ userData: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _ ownAddress: UnsafeMutablePointer<CChar>?, _ port: Int32, _ ownPort: Int32
) -> Int32 {
    guard let context = TransferContext.at(userData), let address,
        context.mayAsk(String(cString: address), port: port)
    else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
}

/// Any return value other than `total` ends the transfer, except the one that pauses it.
private func refusal(of total: Int) -> Int {
    total == 0 ? 1 : 0
}

extension TransferContext {
    fileprivate static func at(_ userData: UnsafeMutableRawPointer?) -> TransferContext? {
        userData.map { Unmanaged<TransferContext>.fromOpaque($0).takeUnretainedValue() }
    }
}
