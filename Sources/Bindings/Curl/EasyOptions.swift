internal import CCurl

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
