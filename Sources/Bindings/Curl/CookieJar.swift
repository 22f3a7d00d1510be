internal import CCurl

/// Cookies of transfers that take part in it: in memory, on the thread that drives them
/// (RFC 6265). Each goes to the hosts only that its origin may set it for.
public final class CookieJar {
    let pointer: UnsafeMutableRawPointer

    /// Cookies at most; a jar that has more is emptied when the next transfer begins.
    public static let cookiesMax = 256
    /// The same for bytes of them: one cookie may have 4 KiB.
    public static let bytesMax = 64 << 10

    /// An empty jar. Throws where there is no memory.
    public init(_ library: CurlLibrary) throws(CurlError) {
        guard let pointer = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        guard ccurl_share_cookies(pointer) == CURLSHE_OK else {
            curl_share_cleanup(pointer)
            throw CurlError(CURLE_OUT_OF_MEMORY)
        }
        self.pointer = pointer
    }

    deinit {
        // Every handle that took part held it, and is gone.
        curl_share_cleanup(pointer)
    }
}
