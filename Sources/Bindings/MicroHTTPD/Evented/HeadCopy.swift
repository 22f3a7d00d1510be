internal import CMicroHTTPD

/// The head of a request without a body, byte for byte: to know a request that was answered before.
///
/// The same head was not refused then, and is not looked at again. libmicrohttpd writes zeros over
/// what separates the parts of a head; so two heads are the same only where the words of the first
/// line lie where they did, and there are as many fields.
public struct HeadCopy {
    let method: String
    let target: String
    private let fields: Int32
    /// From the version to behind the empty line.
    private let rest: [UInt8]

    init(_ head: RequestHead, _ method: String, _ target: String, fields: Int32) {
        (self.method, self.target, self.fields) = (method, target, fields)
        rest = Array(head.rest)
    }

    /// Bytes that it takes.
    public var byteCount: Int { target.utf8.count + rest.count + MemoryLayout<HeadCopy>.size }

    func isSame(_ head: RequestHead, _ target: String, fields: Int32) -> Bool {
        let methodCount = method.utf8.count
        return self.fields == fields && head.isFirstLine(of: methodCount, target.utf8.count)
            && strncmp(head.method, method, methodCount) == 0 && self.target == target
            && isRest(head.rest)
    }

    private func isRest(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rest.count == bytes.count, let start = bytes.baseAddress else { return false }
        return rest.withUnsafeBytes { memcmp($0.baseAddress ?? start, start, bytes.count) == 0 }
    }
}

extension EventedExchange {
    /// A copy of its head; `nil` where a body follows it, and where it has been answered.
    public var headCopy: HeadCopy? {
        guard standing == .reading || standing == .waiting, let head, !announcesBody else {
            return nil
        }
        return HeadCopy(
            head, method, target, fields: cmicrohttpd_fields(connection.pointer))
    }

    /// Whether it has that head.
    public func has(_ copy: HeadCopy) -> Bool {
        guard standing == .reading, let head else { return false }
        return copy.isSame(head, target, fields: cmicrohttpd_fields(connection.pointer))
    }
}
