/// The answer to a head that the library read and refuses, as bytes: there is no exchange that
/// could be answered.
struct RefusedHead {
    private let status: String

    /// Tells from what the head says of the length of its body, if it does, what is wrong with it.
    init(length: String?) {
        guard let length else {
            status = "431 Request Header Fields Too Large"
            return
        }
        let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
        if !isNumber {
            status = "400 Bad Request"
        } else if UInt64(length) == nil || UInt64(length) == .max {
            status = "413 Content Too Large"
        } else {
            status = "431 Request Header Fields Too Large"
        }
    }

    /// Without a body: nobody knows whether it answers a HEAD.
    var bytes: [UInt8] {
        Array(
            """
            HTTP/1.1 \(status)\r
            Cache-Control: no-store\r
            Connection: close\r
            Content-Length: 0\r
            \r

            """.utf8)
    }
}
