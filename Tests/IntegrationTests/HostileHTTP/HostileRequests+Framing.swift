/// Bodies whose length two parsers may interpret differently.
extension HostileRequest {
    private static let chunked = "Transfer-Encoding: chunked"
    /// An empty body, followed by bytes that a parser with another length would take for a request.
    private static let empty = "0\r\n\r\nSMUGGLED"
    private static let post = "POST /live HTTP/1.1\r\nHost: a\r\n"

    static let framing: [HostileRequest] = [
        .init("CL.TE", raw: post + "Content-Length: 5\r\n\(chunked)\r\n\r\n\(empty)", [400]),
        .init("TE.CL", raw: post + "\(chunked)\r\nContent-Length: 5\r\n\r\n\(empty)", [400]),
        .init("CL.TE of a GET", fields: "Content-Length: 5\r\n\(chunked)", body: empty, [400]),
        .init("CL 0 and TE", fields: "Content-Length: 0\r\n\(chunked)", body: empty, [400]),
        .init("TE.TE", fields: "\(chunked)\r\nTransfer-Encoding: identity", body: empty, [400]),
        .init("TE.TE reversed", fields: "Transfer-Encoding: x\r\n\(chunked)", body: empty, [400]),
        .init("TE twice", fields: "\(chunked)\r\n\(chunked)", body: empty, [400]),
        .init("TE, then a list", fields: "\(chunked), identity", body: empty, [501]),
        .init("TE gzip", fields: "Transfer-Encoding: gzip, chunked", body: empty, [501]),
        .init("TE xchunked", fields: "Transfer-Encoding: xchunked", body: empty, [501]),
        .init("TE identity", fields: "Transfer-Encoding: identity", body: "SMUGGLED", [501]),
        .init("TE of nothing", fields: "Transfer-Encoding:", body: empty, [501]),
        .init("TE in quotes", fields: "Transfer-Encoding: \"chunked\"", body: empty, [501]),
        .init("TE with parameters", fields: "\(chunked);a=b", body: empty, [501]),
        .init("TE behind a tab", fields: "Transfer-Encoding:\tchunked", body: empty, [413]),
        .init("TE before a blank", fields: "\(chunked) ", body: empty, [413]),
        .init("TE in capitals", fields: "TRANSFER-ENCODING: CHUNKED", body: empty, [413]),
        .init(
            "TE behind a control byte", fields: "Transfer-Encoding:\u{B}chunked", body: empty,
            [400]),
        .init(
            "TE before a colon's blank", fields: "Transfer-Encoding : chunked", body: empty, [400]),
        .init(
            "TE before a colon's tab", fields: "Transfer-Encoding\t: chunked", body: empty, [400]),
        .init("TE in a folded line", fields: "Transfer-Encoding:\r\n chunked", body: empty, [400]),
        .init("TE folded away", fields: "X: a\r\n \(chunked)", body: empty, [400]),
        .init("TE folded by a tab", fields: "X: a\r\n\t\(chunked)", body: empty, [400]),
        .init("TE behind a bare CR", fields: "X: a\r\(chunked)", body: empty, [400]),
        .init("TE behind a bare LF", fields: "X: a\n\(chunked)", body: empty, [400]),
        .init("TE behind a zero byte", fields: "X: a\0\(chunked)", body: empty, [400]),
        .init("TE in HTTP/1.0", raw: "GET /live HTTP/1.0\r\n\(chunked)\r\n\r\n\(empty)", [400]),

        .init("CL.CL", fields: "Content-Length: 0\r\nContent-Length: 9", body: "SMUGGLED", [400]),
        .init(
            "CL.CL reversed", fields: "Content-Length: 9\r\nContent-Length: 0", body: "SMUGGLED",
            [400]),
        .init(
            "CL twice", fields: "Content-Length: 9\r\nContent-Length: 9", body: "SMUGGLED", [400]),
        .init("CL before a colon's blank", fields: "Content-Length : 9", body: "SMUGGLED", [400]),
        .init("CL before a colon's tab", fields: "Content-Length\t: 9", body: "SMUGGLED", [400]),
        .init("CL as a list", fields: "Content-Length: 0, 9", body: "SMUGGLED", [400]),
        .init("CL with a sign", fields: "Content-Length: +0", body: "SMUGGLED", [400]),
        .init("CL below zero", fields: "Content-Length: -1", body: "SMUGGLED", [400]),
        .init("CL in hexadecimals", fields: "Content-Length: 0x9", body: "SMUGGLED", [400]),
        .init("CL with an exponent", fields: "Content-Length: 1e1", body: "SMUGGLED", [400]),
        .init("CL with a decimal", fields: "Content-Length: 0.0", body: "SMUGGLED", [400]),
        .init("CL of nothing", fields: "Content-Length:", body: "SMUGGLED", [400]),
        .init("CL of letters", fields: "Content-Length: many", body: "SMUGGLED", [400]),
        .init(
            "CL of 2^64", fields: "Content-Length: 18446744073709551616", body: "SMUGGLED", [413]),
        .init("CL of 2^63", fields: "Content-Length: 9223372036854775808", body: "SMUGGLED", [413]),
        .init(
            "CL of 40 digits", fields: "Content-Length: " + String(repeating: "9", count: 40),
            body: "SMUGGLED", [413]),
        .init("CL of letters twice", fields: "Content-Length: x\r\nContent-Length: y", [400]),
        .init("CL of two numbers", fields: "Content-Length: 5 5", body: "SMUGGLED", [400]),
        .init(
            "CL below zero of a POST", raw: post + "Content-Length: -1\r\n\r\nSMUGGLED", [400]),
        .init(
            "CL below zero of a HEAD",
            raw: "HEAD /live HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", [400]),
        .init(
            "cookies without room",
            fields: "Cookie: " + String(repeating: "a=b; ", count: 1_500), [431]),
        .init("CL behind a bare LF", fields: "X: a\nContent-Length: 9", body: "SMUGGLED", [400]),
        .init("CL cut by a zero byte", fields: "Content-Length: 0\09", body: "SMUGGLED", [400]),
        .init("a body of a GET", fields: "Content-Length: 60", body: "SMUGGLED", [413]),
        .init("a body of none", fields: "Content-Length: 000", [200, 200]),

        .init("chunks", raw: post + "\(chunked)\r\n\r\n3\r\nabc\r\n\(empty)", [405]),
        .init(
            "chunk extensions", raw: post + "\(chunked)\r\n\r\n3;a=\"\n\"\r\nabc\r\n\(empty)", [405]
        ),
        .init("a chunk below zero", raw: post + "\(chunked)\r\n\r\n-1\r\n\(empty)", [405]),
        .init("a chunk of 0x", raw: post + "\(chunked)\r\n\r\n0x0\r\n\r\nSMUGGLED", [405]),
        .init(
            "a chunk beyond numbers",
            raw: post + "\(chunked)\r\n\r\n1\(String(repeating: "0", count: 40))\r\n\(empty)", [405]
        ),
        .init(
            "chunks with trailers",
            raw: post + "\(chunked)\r\n\r\n0\r\nContent-Length: 9\r\n\r\nSMUGGLED", [405]),
        .init("a chunk that ends with LF", raw: post + "\(chunked)\r\n\r\n0\n\nSMUGGLED", [405]),

        .init(
            "Expect with a body", fields: "Expect: 100-continue\r\nContent-Length: 99",
            body: "SMUGGLED", [413]),
        .init("Expect without one", fields: "Expect: 100-continue", [417]),
        .init("Expect with none", fields: "Expect: 100-continue\r\nContent-Length: 0", [417]),
        .init("Expect what nobody does", fields: "Expect: 200-maybe", [417]),
        .init("Expect two things", fields: "Expect: 100-continue\r\nExpect: more", [417]),
    ]
}
