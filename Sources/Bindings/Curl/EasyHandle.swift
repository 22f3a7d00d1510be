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
