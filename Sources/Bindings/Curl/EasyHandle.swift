internal import CCurl
internal import Glibc

/// One `CURL *` with what must live as long: its error buffer and its header list.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var jar: CookieJar?

    init(_ library: CurlLibrary) throws(CurlError) {
        guard let pointer = curl_easy_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.pointer = pointer
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        // Cannot fail; and a noncopyable value that is complete cannot throw from its init.
        _ = ccurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorBuffer)
    }

    deinit {
        // In this order: cleaning up may still write a text and read the list.
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
        errorBuffer.deallocate()
    }

    /// The text of the newest failure, empty where libcurl wrote none.
    var errorText: String { String(cString: errorBuffer) }

    func set(_ option: LongOption, _ value: Int) throws(CurlError) {
        try check(ccurl_set_long(pointer, option.raw, value))
    }

    func set(_ option: OffsetOption, _ value: Int64) throws(CurlError) {
        try check(ccurl_set_offset(pointer, option.raw, curl_off_t(value)))
    }

    func set(_ option: StringOption, _ value: String) throws(CurlError) {
        try check(ccurl_set_string(pointer, option.raw, value))
    }

    /// Takes back what the library was built with.
    func clear(_ option: StringOption) throws(CurlError) {
        try check(ccurl_set_string(pointer, option.raw, nil))
    }

    func set(_ option: PointerOption, _ value: UnsafeMutableRawPointer) throws(CurlError) {
        try check(ccurl_set_pointer(pointer, option.raw, value))
    }

    /// Sets the request's header lines. A second call replaces them.
    mutating func setHeaders(_ lines: [String]) throws(CurlError) {
        curl_slist_free_all(headers)
        headers = nil
        for line in lines {
            guard let longer = curl_slist_append(headers, line) else {
                throw CurlError(CURLE_OUT_OF_MEMORY)
            }
            headers = longer
        }
        try check(ccurl_set_list(pointer, CURLOPT_HTTPHEADER, headers))
    }

    /// Takes part in a jar of cookies, which is emptied where it has too many.
    mutating func share(_ jar: CookieJar) throws(CurlError) {
        try check(ccurl_set_pointer(pointer, CURLOPT_SHARE, jar.pointer))
        self.jar = jar
        // Without it the handle neither sends nor takes cookies; no file has this name.
        try set(.cookieFile, "")
        let held = cookies()
        guard held.count > CookieJar.cookiesMax || held.bytes > CookieJar.bytesMax else { return }
        try set(.cookies, "ALL")
    }

    /// How many cookies the jar has, and bytes of them, each as a line of a cookie file.
    private func cookies() -> (count: Int, bytes: Int) {
        var list: UnsafeMutablePointer<curl_slist>?
        guard ccurl_get_list(pointer, CURLINFO_COOKIELIST, &list) == CURLE_OK else {
            return (0, 0)
        }
        defer { curl_slist_free_all(list) }
        var (count, bytes, next) = (0, 0, list)
        while let cookie = next {
            count += 1
            bytes += cookie.pointee.data.map { strlen($0) } ?? 0
            next = cookie.pointee.next
        }
        return (count, bytes)
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard ccurl_get_string(pointer, info, &value) == CURLE_OK else { return nil }
        return value.map { String(cString: $0) }
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return ccurl_get_offset(pointer, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func check(_ code: CURLcode) throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code) }
    }
}

/// Options whose value is a `long`.
struct LongOption: Sendable {
    let raw: CURLoption

    static let noSignal = LongOption(raw: CURLOPT_NOSIGNAL)
    static let quickExit = LongOption(raw: CURLOPT_QUICK_EXIT)
    static let followLocation = LongOption(raw: CURLOPT_FOLLOWLOCATION)
    static let redirectsMax = LongOption(raw: CURLOPT_MAXREDIRS)
    static let unrestrictedAuth = LongOption(raw: CURLOPT_UNRESTRICTED_AUTH)
    static let connectTimeoutMilliseconds = LongOption(raw: CURLOPT_CONNECTTIMEOUT_MS)
    static let timeoutMilliseconds = LongOption(raw: CURLOPT_TIMEOUT_MS)
    static let lowSpeedBytesPerSecond = LongOption(raw: CURLOPT_LOW_SPEED_LIMIT)
    static let lowSpeedSeconds = LongOption(raw: CURLOPT_LOW_SPEED_TIME)
    static let authentication = LongOption(raw: CURLOPT_HTTPAUTH)
    static let httpVersion = LongOption(raw: CURLOPT_HTTP_VERSION)
    static let waitsForStreams = LongOption(raw: CURLOPT_PIPEWAIT)
    static let bufferBytes = LongOption(raw: CURLOPT_BUFFERSIZE)
    static let hidesProxyAnswers = LongOption(raw: CURLOPT_SUPPRESS_CONNECT_HEADERS)
    static let verifiesPeer = LongOption(raw: CURLOPT_SSL_VERIFYPEER)
    static let verifiesHost = LongOption(raw: CURLOPT_SSL_VERIFYHOST)
    static let decodesContent = LongOption(raw: CURLOPT_HTTP_CONTENT_DECODING)
}

/// Options whose value is a `curl_off_t`.
struct OffsetOption: Sendable {
    let raw: CURLoption

    static let fileBytesMax = OffsetOption(raw: CURLOPT_MAXFILESIZE_LARGE)
}

/// Options whose value is a C string, which libcurl copies.
struct StringOption: Sendable {
    let raw: CURLoption

    static let url = StringOption(raw: CURLOPT_URL)
    static let protocols = StringOption(raw: CURLOPT_PROTOCOLS_STR)
    static let redirectProtocols = StringOption(raw: CURLOPT_REDIR_PROTOCOLS_STR)
    static let userAgent = StringOption(raw: CURLOPT_USERAGENT)
    static let noProxy = StringOption(raw: CURLOPT_NOPROXY)
    static let proxy = StringOption(raw: CURLOPT_PROXY)
    static let certificatesFile = StringOption(raw: CURLOPT_CAINFO)
    static let clientCertificate = StringOption(raw: CURLOPT_SSLCERT)
    static let clientKey = StringOption(raw: CURLOPT_SSLKEY)
    static let cookies = StringOption(raw: CURLOPT_COOKIELIST)
    static let cookieFile = StringOption(raw: CURLOPT_COOKIEFILE)
    static let certificatesFolder = StringOption(raw: CURLOPT_CAPATH)
    static let signing = StringOption(raw: CURLOPT_AWS_SIGV4)
    static let userName = StringOption(raw: CURLOPT_USERNAME)
    static let password = StringOption(raw: CURLOPT_PASSWORD)
}

/// Options whose value is a pointer that must outlive the transfer.
struct PointerOption: Sendable {
    let raw: CURLoption

    static let writeData = PointerOption(raw: CURLOPT_WRITEDATA)
    static let headerData = PointerOption(raw: CURLOPT_HEADERDATA)
    static let openSocketData = PointerOption(raw: CURLOPT_OPENSOCKETDATA)
    static let beforeRequestData = PointerOption(raw: CURLOPT_PREREQDATA)
}

/// The proof that libcurl is initialised; every handle asks for one.
public struct CurlLibrary: Sendable {
    private init() {}

    /// `curl_global_init` must run once, before any other call of the library; a `static let` is
    /// what the language guarantees to run once, whichever thread comes first.
    private static let code = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Initialises the library at the first call. Throws what `curl_global_init` answered.
    public static func start() throws(CurlError) -> CurlLibrary {
        guard code == CURLE_OK else { throw CurlError(code) }
        return CurlLibrary()
    }

    /// `7.88.1 OpenSSL/3.0.19`: version of libcurl and of its TLS library.
    public var version: String {
        guard let info = curl_version_info(CURLVERSION_TENTH) else { return "unknown" }
        let tls = info.pointee.ssl_version.map { " " + String(cString: $0) } ?? ""
        return String(cString: info.pointee.version) + tls
    }
}

/// What libcurl answered, with its text.
public struct CurlError: Error, Hashable, Sendable {
    /// The kind of failure, for decisions.
    public let code: Code
    /// The number that libcurl gave: a `CURLcode`, or a `CURLMcode` where `isSetError`.
    public let number: Int32
    /// True where the set of transfers failed, not one transfer.
    public let isSetError: Bool
    /// libcurl's own words about this failure; may name addresses and hosts.
    public let text: String
    /// `errno` of the failing system call, 0 where there was none.
    public let osError: Int32

    init(_ code: CURLcode, text: String = "", osError: Int32 = 0) {
        number = Int32(bitPattern: code.rawValue)
        isSetError = false
        self.text = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        self.code = Code(code)
        self.osError = osError
    }

    init(_ code: CURLMcode) {
        self.code = .other
        number = code.rawValue
        isSetError = true
        text = String(cString: curl_multi_strerror(code))
        osError = 0
    }
}

extension CurlError: CustomStringConvertible {
    /// `curl 28: Connection timed out (errno 110)`
    public var description: String {
        let name = isSetError ? "curl multi" : "curl"
        return "\(name) \(number): \(text)" + (osError == 0 ? "" : " (errno \(osError))")
    }
}

extension CurlError {
    /// Whether the peer's certificate was not believed, or is of another host.
    public var isPeerUnverified: Bool {
        code == .tlsFailed && UInt32(bitPattern: number) == CURLE_PEER_FAILED_VERIFICATION.rawValue
    }

    /// The failures that callers tell apart (libcurl-errors(3)).
    public enum Code: Hashable, Sendable, CaseIterable {
        /// Not http or https, at first or after a redirect.
        case unsupportedProtocol
        /// The URL cannot be parsed.
        case malformedURL
        /// The host name has no address.
        case nameNotResolved
        /// No address of the host took the connection, or all were refused by the guard.
        case couldNotConnect
        /// Connecting, the whole transfer, or its speed was over a limit of time.
        case timedOut
        /// TLS could not be set up, or the peer could not be verified.
        case tlsFailed
        /// A certificate, key or list of authorities here cannot be read; no peer was asked.
        case ownFileFailed
        /// The body ended before its announced length.
        case partialFile
        /// The connection closed without an answer.
        case gotNothing
        /// The connection broke while sending or receiving.
        case connectionBroken
        /// More redirects than permitted.
        case tooManyRedirects
        /// The announced length is over the limit.
        case fileSizeExceeded
        /// The answer is no HTTP, or breaks HTTP/2.
        case protocolBroken
        /// A callback of ours refused to go on.
        case refusedByReceiver
        /// No memory.
        case outOfMemory
        /// Anything else: `number` and `text` say more.
        case other

        init(_ code: CURLcode) {
            self = Self.table[code.rawValue] ?? .other
        }

        private static let table: [UInt32: Code] = rows.reduce(into: [:]) {
            $0[$1.0.rawValue] = $1.1
        }

        private static let rows: [(CURLcode, Code)] = [
            (CURLE_UNSUPPORTED_PROTOCOL, .unsupportedProtocol),
            (CURLE_URL_MALFORMAT, .malformedURL),
            (CURLE_COULDNT_RESOLVE_HOST, .nameNotResolved),
            (CURLE_COULDNT_RESOLVE_PROXY, .nameNotResolved),
            (CURLE_COULDNT_CONNECT, .couldNotConnect),
            (CURLE_PROXY, .couldNotConnect),
            (CURLE_OPERATION_TIMEDOUT, .timedOut),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed),
            (CURLE_PEER_FAILED_VERIFICATION, .tlsFailed),
            (CURLE_SSL_CERTPROBLEM, .ownFileFailed),
            (CURLE_SSL_CIPHER, .tlsFailed),
            (CURLE_SSL_CACERT_BADFILE, .ownFileFailed),
            (CURLE_SSL_SHUTDOWN_FAILED, .tlsFailed),
            (CURLE_SSL_ISSUER_ERROR, .tlsFailed),
            (CURLE_SSL_INVALIDCERTSTATUS, .tlsFailed),
            (CURLE_SSL_ENGINE_INITFAILED, .tlsFailed),
            (CURLE_SSL_CLIENTCERT, .tlsFailed),
            (CURLE_SSL_ENGINE_NOTFOUND, .tlsFailed),
            (CURLE_SSL_ENGINE_SETFAILED, .tlsFailed),
            (CURLE_SSL_CRL_BADFILE, .ownFileFailed),
            (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .tlsFailed),
            (CURLE_PARTIAL_FILE, .partialFile),
            (CURLE_GOT_NOTHING, .gotNothing),
            (CURLE_SEND_ERROR, .connectionBroken),
            (CURLE_RECV_ERROR, .connectionBroken),
            // One of the streams of a connection was ended by the origin.
            (CURLE_HTTP2_STREAM, .connectionBroken),
            (CURLE_TOO_MANY_REDIRECTS, .tooManyRedirects),
            (CURLE_FILESIZE_EXCEEDED, .fileSizeExceeded),
            (CURLE_WEIRD_SERVER_REPLY, .protocolBroken),
            // More transfer codings than libcurl counts.
            (CURLE_BAD_CONTENT_ENCODING, .protocolBroken),
            (CURLE_HTTP2, .protocolBroken),
            (CURLE_WRITE_ERROR, .refusedByReceiver),
            (CURLE_ABORTED_BY_CALLBACK, .refusedByReceiver),
            (CURLE_OUT_OF_MEMORY, .outOfMemory),
        ]
    }
}
