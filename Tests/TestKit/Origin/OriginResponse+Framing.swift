/// The bytes of a response on the wire.
extension OriginResponse {
    var head: [UInt8] {
        if let rawHead { return rawHead }
        var text = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        switch length {
        case .exact where hasBody: text += "Content-Length: \(body.count)\r\n"
        case .declared(let count): text += "Content-Length: \(count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .exact, .untilClose: break
        }
        if endsConnection { text += "Connection: close\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// 204 and 304 responses never have a body (RFC 9110 §6.4.1).
    var hasBody: Bool { status != 204 && status != 304 }

    /// A part of the body as it is sent.
    func framed(_ part: [UInt8]) -> [UInt8] {
        guard case .chunked = length else { return part }
        let size = String(part.count, radix: 16)
        return Array("\(size)\r\n".utf8) + part + Array("\r\n".utf8)
    }

    /// The bytes after a complete body.
    var trailer: [UInt8] {
        guard case .chunked = length else { return [] }
        return Array("0\r\n\r\n".utf8)
    }

    /// Whether closing the connection is part of the response.
    var endsConnection: Bool {
        if closesAfter != nil || closesAtOnce || rawHead != nil { return true }
        return switch length {
        case .exact, .chunked: false
        case .declared(let count): count != body.count
        case .untilClose: true
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 304: "Not Modified"
        case 404: "Not Found"
        default: "Status"
        }
    }
}

extension OriginPace {
    /// The number of body bytes sent in one step.
    var stepByteCount: Int {
        switch self {
        case .atOnce: 1 << 16
        case .steady(let bytes, _, _), .stepped(let bytes, _): max(1, bytes)
        }
    }
}
