/// Why a request is refused that the library took; its connection ends with the answer.
struct HeadFault: Error, Hashable {
    let status: UInt16
    /// For people.
    let sentence: String

    /// The answer.
    var reply: HTTPReply {
        HTTPReply(
            status: status,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"),
                ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
            ], body: .bytes(Array((sentence + "\n").utf8)))
    }
}

extension HeadFault {
    static let target = HeadFault(
        status: 400, sentence: "the target has characters that are no visible ones of ASCII")
    static let method = HeadFault(status: 400, sentence: "the method is no token")
    static let lines = HeadFault(
        status: 400,
        sentence: "the head is not made of lines that end with CR LF, or has a zero byte in it")
    static let name = HeadFault(status: 400, sentence: "the name of a field is no token")
    static let value = HeadFault(
        status: 400, sentence: "the value of a field has control characters")
    static let host = HeadFault(status: 400, sentence: "one field Host says one host")
    static let framing = HeadFault(
        status: 400, sentence: "the fields contradict each other about where the body ends")
    static let coding = HeadFault(
        status: 501, sentence: "no transfer coding but chunked is understood")
    static let bodyTooLarge = HeadFault(status: 413, sentence: "the body is too large")
    static let expectation = HeadFault(
        status: 417, sentence: "nothing but 100-continue before a body can be expected")
}
