internal import CCurl

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
