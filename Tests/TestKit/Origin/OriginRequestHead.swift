/// The head of a request, parsed from the bytes received so far.
struct OriginRequestHead {
    let request: OriginRequest
    /// The length of the head in bytes, with its empty line.
    let byteCount: Int
    /// The length of the body that follows, in bytes.
    let bodyByteCount: Int

    /// Nil if the empty line hasn't arrived yet. Input that isn't HTTP becomes an empty request,
    /// which matches no route.
    init?(parsing bytes: [UInt8], connection: Int) {
        guard let end = Self.endOfHead(in: bytes) else { return nil }
        let text = String(decoding: bytes[..<end], as: UTF8.self)
        let lines = text.split(separator: "\r\n")
        let first = (lines.first ?? "").split(separator: " ")
        let headers = lines.dropFirst().map(Self.field)
        request = OriginRequest(
            method: first.first.map(String.init) ?? "",
            target: first.count > 1 ? String(first[1]) : "",
            headers: headers, connection: connection)
        byteCount = end
        bodyByteCount = request.header("content-length").flatMap { Int($0) } ?? 0
    }

    private static func endOfHead(in bytes: [UInt8]) -> Int? {
        // Hand-written with unsafe pointers: this runs for every request, and debug builds are
        // slow.
        bytes.withUnsafeBufferPointer { bytes in
            var index = 3
            while index < bytes.count {
                if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10,
                    bytes[index - 3] == 13
                {
                    return index + 1
                }
                index += 1
            }
            return nil
        }
    }

    private static func field(_ line: Substring) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
        return (parts[0].lowercased(), String(value))
    }
}
