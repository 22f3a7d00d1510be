internal import CCurl
internal import Glibc

/// One transfer of a set: made by `TransferSet.start`, alive as long as somebody holds it.
///
/// A class for its identity; it belongs to the thread that drives the set.
public final class Transfer {
    var easy: EasyHandle
    private let context: TransferContext
    /// Whether its connection may be that of others at the same time: of HTTP/2, which TLS brings.
    public let mayShareConnection: Bool
    /// The URL of the proxy through which it goes.
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
            followsRedirects: request.followsRedirects,
            answersDigest: request.authentication.answersDigest)
        try set(request)
        try set(request.authentication)
        try set(policy)
        try setFixedOptions(request)
        try setCallbacks()
    }

    /// The URL of the newest response, with any user info that was given.
    public var effectiveURL: String { easy.string(CURLINFO_EFFECTIVE_URL) ?? "" }

    /// Seconds after which the newest response that has a `Retry-After` wants to be asked again,
    /// counted from its arrival (RFC 9110 §10.2.3); `nil` where it wants nothing, or at once.
    public var retryAfterSeconds: Int64? {
        let seconds = easy.offset(CURLINFO_RETRY_AFTER)
        return seconds > 0 ? seconds : nil
    }

    /// Whether it got a connection to ask through.
    var hasAsked: Bool { easy.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Whether the name of its host was found, or its connection was there already.
    public var hasFoundName: Bool { hasAsked || easy.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 }

    /// Bytes of bodies that have come.
    public var receivedBytes: Int64 { easy.offset(CURLINFO_SIZE_DOWNLOAD_T) }

    /// How it went, as far as it went; whole once the transfer has ended.
    public var figures: TransferFigures {
        TransferFigures(
            nameMicroseconds: easy.offset(CURLINFO_NAMELOOKUP_TIME_T),
            connectMicroseconds: easy.offset(CURLINFO_CONNECT_TIME_T),
            tlsMicroseconds: easy.offset(CURLINFO_APPCONNECT_TIME_T),
            firstByteMicroseconds: easy.offset(CURLINFO_STARTTRANSFER_TIME_T),
            bytes: receivedBytes, httpVersion: httpVersion,
            address: address, isReused: easy.long(CURLINFO_NUM_CONNECTS) == 0)
    }

    private var address: String {
        guard let ip = easy.string(CURLINFO_PRIMARY_IP), !ip.isEmpty else { return "" }
        let host = ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]" : ip
        return "\(host):\(easy.long(CURLINFO_PRIMARY_PORT))"
    }

    private var httpVersion: String {
        switch easy.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        default: ""
        }
    }

    /// The status with which the proxy refused a tunnel to the origin; `nil` where it refused none.
    public var refusedTunnelStatus: Int? {
        let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
        return status == 0 || (200..<300).contains(status) ? nil : status
    }

    /// The address that the guard refused, where that is why nothing was connected.
    public var refusedAddress: SocketAddress? { context.refusedAddress }

    private func set(_ request: TransferRequest) throws(CurlError) {
        guard let lines = request.headerLines, !request.url.utf8.contains(0) else {
            throw CurlError(
                CURLE_BAD_FUNCTION_ARGUMENT, text: "a header or the URL holds a control character")
        }
        try easy.set(.url, request.url)
        try easy.setHeaders(lines)
        try easy.set(.followLocation, request.followsRedirects ? 1 : 0)
        try easy.set(.timeoutMilliseconds, max(1, request.timeoutMilliseconds))
        // 0 would mean no limit; the counter of the context stops the first byte.
        try easy.set(.fileBytesMax, max(1, request.bodyBytesMax))
        if !request.verifiesTLS {
            // Connections are shared only by transfers that say the same of this.
            try easy.set(.verifiesPeer, 0)
            try easy.set(.verifiesHost, 0)
        }
        guard let signing = request.signing else { return }
        try easy.set(.signing, signing.provider)
        try easy.set(.userName, signing.accessKeyID)
        try easy.set(.password, signing.secretAccessKey)
    }

    private func set(_ authentication: TransferAuthentication) throws(CurlError) {
        if let (method, user, password) = authentication.password {
            try easy.set(
                .authentication, method == .digest ? ccurl_auth_digest : ccurl_auth_basic)
            try easy.set(.userName, user)
            try easy.set(.password, password)
        }
        if let (path, keyPath) = authentication.certificate {
            try easy.set(.clientCertificate, path)
            try easy.set(.clientKey, keyPath)
        }
        if let cookies = authentication.cookies { try easy.share(cookies) }
    }

    /// It has ended: the sink hears of a head that was taken for a question.
    func settle() { context.settle() }

    private func set(_ policy: TransferPolicy) throws(CurlError) {
        try easy.set(.userAgent, policy.userAgent)
        try easy.set(.connectTimeoutMilliseconds, policy.connectTimeoutMilliseconds)
        try easy.set(.lowSpeedBytesPerSecond, policy.lowSpeedBytesPerSecond)
        try easy.set(.lowSpeedSeconds, policy.lowSpeedSeconds)
        try easy.set(.redirectsMax, policy.redirectsMax)
        // None of the environment: the guard must see every address. A proxy of the operator's is
        // used for all hosts.
        try easy.set(.proxy, policy.proxy ?? "")
        try easy.set(.noProxy, "")
        // What it says of a tunnel is no answer of the origin.
        try easy.set(.hidesProxyAnswers, 1)
        guard let file = policy.certificatesFile else { return }
        try easy.set(.certificatesFile, file)
        // libcurl would trust the folder of the system as well.
        try easy.clear(.certificatesFolder)
    }

    private func setFixedOptions(_ request: TransferRequest) throws(CurlError) {
        try easy.set(.noSignal, 1)
        // Ending a transfer while its name is being resolved would else wait for the resolver
        // (measured with a silent name server: 8 s, now under 1 ms), and no other transfer would
        // move meanwhile. The resolver's thread frees what it holds when it ends.
        try easy.set(.quickExit, 1)
        try easy.set(.unrestrictedAuth, 0)
        try easy.set(.protocols, "http,https")
        try easy.set(.redirectProtocols, "http,https")
        try easy.set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
        // Where TLS may bring HTTP/2, others of a host wait until it is known, and share the
        // connection then. Without TLS they would wait for the first answer.
        try easy.set(.waitsForStreams, request.isSecure ? 1 : 0)
        try easy.set(.bufferBytes, TransferPolicy.bufferBytes)
        // What an origin encodes is undone by who receives it, within limits: libcurl undoes up to
        // five codings, each of them a thousand times as long as the one before.
        try easy.set(.decodesContent, 0)
    }

    private func setCallbacks() throws(CurlError) {
        // Unretained: `context` lives as long as `easy`, and only the driving thread calls.
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        try easy.set(.writeData, pointer)
        try easy.set(.headerData, pointer)
        try easy.set(.openSocketData, pointer)
        try easy.check(ccurl_set_receiver(easy.pointer, CURLOPT_WRITEFUNCTION, receiveBody))
        try easy.check(ccurl_set_receiver(easy.pointer, CURLOPT_HEADERFUNCTION, receiveHeader))
        try easy.check(ccurl_set_socket_opener(easy.pointer, openSocket))
        try easy.check(ccurl_set_socket_closer(easy.pointer, closeSocket))
        try easy.set(.beforeRequestData, pointer)
        try easy.check(ccurl_set_before_request(easy.pointer, beforeRequest))
    }

    /// Whether bytes of a response came, and not the end of its head. libcurl has a limit for a
    /// line, beyond which it says that memory has run out.
    private var isInsideHead: Bool {
        !context.hasHead && easy.offset(CURLINFO_STARTTRANSFER_TIME_T) > 0
    }

    /// The error of an ended transfer, with our own reason where a callback of ours ended it.
    func error(_ code: CURLcode) -> CurlError? {
        guard code != CURLE_OK else { return nil }
        let osError = Int32(truncatingIfNeeded: easy.long(CURLINFO_OS_ERRNO))
        switch context.violation {
        case .bodyTooLarge:
            return CurlError(CURLE_FILESIZE_EXCEEDED, text: "the body is over its limit")
        case .headTooLarge:
            return CurlError(CURLE_WEIRD_SERVER_REPLY, text: "the head is over its limit")
        case .transferCoding:
            return CurlError(
                CURLE_WEIRD_SERVER_REPLY, text: "the transfer coding is not chunked alone")
        case .addressRefused:
            return CurlError(
                CURLE_COULDNT_CONNECT, text: "the connection leads to an address that is refused")
        // If libcurl cannot start a thread for a lookup, it reports that the name does not exist.
        case nil
        where code == CURLE_COULDNT_RESOLVE_HOST && easy.errorText.contains("() thread failed"):
            return CurlError(CURLE_OUT_OF_MEMORY, text: easy.errorText)
        case nil where code == CURLE_OUT_OF_MEMORY && isInsideHead:
            return CurlError(
                CURLE_WEIRD_SERVER_REPLY, text: "a line of the head is over its limit")
        // libcurl gives a status line that it cannot read the code of an unknown scheme.
        case nil where code == CURLE_UNSUPPORTED_PROTOCOL && effectiveURL.hasPrefix("http"):
            return CurlError(CURLE_WEIRD_SERVER_REPLY, text: easy.errorText)
        case nil:
            return CurlError(code, text: easy.errorText, osError: osError)
        }
    }
}

/// How one transfer went (`curl_easy_getinfo(3)`). Times are counted from its begin.
public struct TransferFigures: Hashable, Sendable {
    /// The name had addresses; 0 where the connection was there before.
    public let nameMicroseconds: Int64
    /// The connection was there; 0 where it was there before.
    public let connectMicroseconds: Int64
    /// TLS was there; 0 without, and where it was there before.
    public let tlsMicroseconds: Int64
    /// The first byte came.
    public let firstByteMicroseconds: Int64
    /// Of the body, content codings not undone.
    public let bytes: Int64
    /// `1.0`, `1.1` or `2`; empty where there was no answer.
    public let httpVersion: String
    /// `127.0.0.1:80` or `[::1]:80`; empty where nothing was connected.
    public let address: String
    /// Whether the connection was there before.
    public let isReused: Bool
}

/// Takes what a transfer receives. Called on the thread that drives the set.
///
/// It cannot throw, since libcurl is between: it keeps its error itself and refuses, which ends the
/// transfer with `CurlError.Code.refusedByReceiver`.
public protocol TransferSink: AnyObject {
    /// The head of the final response, not of interim answers or of redirects that are followed.
    /// False refuses it.
    func receive(_ head: ResponseHead) -> Bool

    /// The next bytes of the body; they are libcurl's and valid during the call only. Transfer
    /// codings were undone, content codings were not.
    func receive(_ bytes: RawSpan) -> Reception
}

/// What a sink did with bytes of a body.
public enum Reception: Hashable, Sendable {
    /// It took all of them.
    case taken
    /// It took none of them now. The transfer waits until `TransferSet.resume`, which brings the
    /// same bytes again.
    case postponed
    /// It wants nothing more of this transfer.
    case refused
}

/// What the callbacks of one transfer work on: its sink, its counters, and why it was ended.
final class TransferContext {
    private let sink: any TransferSink
    /// Nil where all connections are to a proxy.
    private let addressGuard: AddressGuard?
    private let bodyBytesMax: Int64
    private let followsRedirects: Bool
    /// Whether libcurl answers the next question of who asks.
    private var answersDigest: Bool
    /// A head that asked who asks, until it is known whether libcurl answers it.
    private var question: ResponseHead?
    private var head: ResponseHead?
    private var headBytes = 0
    private var bodyBytes: Int64 = 0
    /// Why a callback ended the transfer, where it was not the sink.
    private(set) var violation: Violation?
    /// The address that the guard refused last, with no permitted one after it.
    private(set) var refusedAddress: SocketAddress?

    /// Whether the head of the final response was whole.
    private(set) var hasHead = false

    enum Violation {
        case bodyTooLarge
        case headTooLarge
        case transferCoding
        case addressRefused
    }

    init(
        sink: any TransferSink, addressGuard: AddressGuard?, bodyBytesMax: Int64,
        followsRedirects: Bool, answersDigest: Bool = false
    ) {
        self.answersDigest = answersDigest
        self.sink = sink
        self.addressGuard = addressGuard
        self.bodyBytesMax = bodyBytesMax
        self.followsRedirects = followsRedirects
    }

    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= TransferPolicy.headBytesMax else {
            violation = .headTooLarge
            return false
        }
        // Within a head such a line is a field, as for libcurl: what was said before it holds.
        if head == nil, let started = ResponseHead(statusLine: line) {
            head = started
            return true
        }
        guard line.first == 0x0D || line.first == 0x0A else {
            head?.append(line: line)
            return true
        }
        // An empty line ends the head. Lines that follow the body are trailers: nobody asks.
        guard let ended = head.take() else { return true }
        return receive(ended)
    }

    private func receive(_ ended: ResponseHead) -> Bool {
        // libcurl would undo any codings that it knows, one upon the other and without a limit.
        guard ended.hasPlainFraming else {
            violation = .transferCoding
            return false
        }
        guard !ended.isInterim, !(followsRedirects && ended.isRedirect) else { return true }
        question = nil
        if answersDigest, ended.asksForDigest {
            (answersDigest, question) = (false, ended)
            return true
        }
        hasHead = true
        return sink.receive(ended)
    }

    /// A question that libcurl did not answer is the response. False: the sink refused it.
    @discardableResult
    func settle() -> Bool {
        guard let question = question.take() else { return true }
        hasHead = true
        return sink.receive(question)
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Reception {
        // libcurl keeps the body of a question to itself.
        guard settle() else { return .refused }
        guard bodyBytes + Int64(bytes.count) <= bodyBytesMax else {
            violation = .bodyTooLarge
            return .refused
        }
        let reception = sink.receive(bytes.bytes)
        if reception == .taken { bodyBytes += Int64(bytes.count) }
        return reception
    }

    /// Whether a request may go over a connection to this address. Connections are shared, and one
    /// transfer may have addresses that another one may not.
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
        violation = .addressRefused
        return false
    }

    /// A socket for the address, or nil where the guard refuses it or the system has none.
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
