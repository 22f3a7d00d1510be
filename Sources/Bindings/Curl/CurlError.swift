internal import CCurl

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
