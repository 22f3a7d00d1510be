internal import CCurl
internal import Glibc

/// Owns one `CURL *` together with its error buffer and header list, which must live as long.
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
        // Can't fail. A fully initialized noncopyable value can't throw from its initializer.
        _ = ccurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorBuffer)
    }

    deinit {
        // The order matters: cleanup may still write the error text and read the list.
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
        errorBuffer.deallocate()
    }

    /// The text of the most recent error; empty if libcurl wrote none.
    var errorText: String { String(cString: errorBuffer) }

    /// Sets an option whose value is a `long`.
    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(ccurl_set_long(pointer, checked(option, CURLOPTTYPE_LONG), value))
    }

    /// Sets an option whose value is a `curl_off_t`.
    func set(_ option: CURLoption, _ value: Int64) throws(CurlError) {
        try check(ccurl_set_offset(pointer, checked(option, CURLOPTTYPE_OFF_T), curl_off_t(value)))
    }

    /// Sets an option to a copy of a text; `nil` is the default compiled into the library.
    func set(_ option: CURLoption, _ value: String?) throws(CurlError) {
        try check(ccurl_set_string(pointer, checked(option, CURLOPTTYPE_OBJECTPOINT), value))
    }

    /// Sets an option whose value is a pointer that must outlive the transfer.
    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) throws(CurlError) {
        try check(ccurl_set_pointer(pointer, checked(option, CURLOPTTYPE_OBJECTPOINT), value))
    }

    /// Returns an option after checking, by its number, that its value has this type.
    private func checked(_ option: CURLoption, _ type: Int32) -> CURLoption {
        precondition(option.rawValue / 10_000 == UInt32(type) / 10_000, "another type of value")
        return option
    }

    /// Sets the request's header lines, replacing any set before.
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

    /// Attaches the handle to a cookie jar. A jar that exceeds its limits is emptied first.
    mutating func share(_ jar: CookieJar) throws(CurlError) {
        try check(ccurl_set_pointer(pointer, CURLOPT_SHARE, jar.pointer))
        self.jar = jar
        // Enables the cookie engine: without it the handle neither sends nor stores cookies. No
        // file has the empty name.
        try set(CURLOPT_COOKIEFILE, "")
        let held = cookies()
        guard held.count > CookieJar.cookiesMax || held.bytes > CookieJar.bytesMax else { return }
        try set(CURLOPT_COOKIELIST, "ALL")
    }

    /// The number of cookies in the jar and their total size in bytes, each counted as a line of a
    /// cookie file.
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

/// Proof that libcurl has been initialized; required to create a handle.
public struct CurlLibrary: Sendable {
    private init() {}

    /// `curl_global_init` must run exactly once, before any other libcurl call. Swift guarantees
    /// that for a `static let`, whichever thread accesses it first.
    private static let code = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Initializes the library on the first call. Throws the error of `curl_global_init`.
    public static func start() throws(CurlError) -> CurlLibrary {
        guard code == CURLE_OK else { throw CurlError(code) }
        return CurlLibrary()
    }

    /// The versions of libcurl and its TLS library, such as `7.88.1 OpenSSL/3.0.19`.
    public var version: String {
        guard let info = curl_version_info(CURLVERSION_TENTH) else { return "unknown" }
        let tls = info.pointee.ssl_version.map { " " + String(cString: $0) } ?? ""
        return String(cString: info.pointee.version) + tls
    }
}

/// An error reported by libcurl, with its text.
public struct CurlError: Error, Hashable, Sendable {
    /// The kind of failure; use it for decisions.
    public let code: Code
    /// libcurl's error number: a `CURLMcode` if `isSetError`, otherwise a `CURLcode`.
    public let number: Int32
    /// Whether the whole set of transfers failed rather than one transfer.
    public let isSetError: Bool
    /// libcurl's description of this failure. May contain addresses and host names.
    public let text: String
    /// The `errno` of the failed system call, or 0 if there was none.
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
    /// A description for logs, such as `curl 28: Connection timed out (errno 110)`.
    public var description: String {
        let name = isSetError ? "curl multi" : "curl"
        return "\(name) \(number): \(text)" + (osError == 0 ? "" : " (errno \(osError))")
    }
}

extension CurlError {
    /// Whether the peer's certificate is untrusted or issued for another host.
    public var isPeerUnverified: Bool {
        code == .tlsFailed && UInt32(bitPattern: number) == CURLE_PEER_FAILED_VERIFICATION.rawValue
    }

    /// The failures that callers distinguish (libcurl-errors(3)).
    public enum Code: Hashable, Sendable, CaseIterable {
        /// The scheme isn't http or https.
        case unsupportedProtocol
        /// The URL cannot be parsed.
        case malformedURL
        /// The host name couldn't be resolved.
        case nameNotResolved
        /// No address of the host accepted the connection, or the guard refused all of them.
        case couldNotConnect
        /// The connect timeout, the total timeout or the low-speed limit was exceeded.
        case timedOut
        /// TLS couldn't be set up, or the peer couldn't be verified.
        case tlsFailed
        /// A local certificate, key or CA file can't be read; the peer wasn't contacted.
        case ownFileFailed
        /// The body ended before the announced length.
        case partialFile
        /// The connection was closed without a response.
        case gotNothing
        /// The connection broke while sending or receiving.
        case connectionBroken
        /// The announced length exceeds the limit.
        case fileSizeExceeded
        /// The response isn't valid HTTP or violates HTTP/2.
        case protocolBroken
        /// One of our callbacks ended the transfer.
        case refusedByReceiver
        /// Out of memory.
        case outOfMemory
        /// Anything else; see `number` and `text`.
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
            // The origin reset one stream of a connection.
            (CURLE_HTTP2_STREAM, .connectionBroken),
            (CURLE_FILESIZE_EXCEEDED, .fileSizeExceeded),
            (CURLE_WEIRD_SERVER_REPLY, .protocolBroken),
            // More transfer codings than libcurl accepts.
            (CURLE_BAD_CONTENT_ENCODING, .protocolBroken),
            (CURLE_HTTP2, .protocolBroken),
            (CURLE_WRITE_ERROR, .refusedByReceiver),
            (CURLE_ABORTED_BY_CALLBACK, .refusedByReceiver),
            (CURLE_OUT_OF_MEMORY, .outOfMemory),
        ]
    }
}
