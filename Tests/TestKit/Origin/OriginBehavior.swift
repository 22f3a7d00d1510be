/// How the origin server answers requests for a path: a function from request to response.
public struct OriginBehavior: Sendable {
    let answer: @Sendable (OriginRequest) -> OriginResponse
    private let next: (@Sendable () -> OriginBehavior)?

    /// A behavior given by a function.
    public init(_ answer: @escaping @Sendable (OriginRequest) -> OriginResponse) {
        (self.answer, next) = (answer, nil)
    }

    /// A behavior that differs from request to request.
    private init(next: @escaping @Sendable () -> OriginBehavior) {
        (answer, self.next) = ({ next().answer($0) }, next)
    }

    /// The behavior for the next request. The server calls it once per request, in the order of
    /// arrival and before tests learn of the request, since the thread that answers may be late.
    func forNextRequest() -> Self { next?() ?? self }

    /// Always the same response.
    public static func respond(_ response: OriginResponse) -> Self {
        Self { _ in response }
    }

    /// The same behavior, with each response changed by `change`.
    public func changed(_ change: @escaping @Sendable (inout OriginResponse) -> Void) -> Self {
        if let next { return Self(next: { next().changed(change) }) }
        return Self { request in
            var response = answer(request)
            change(&response)
            return response
        }
    }

    /// The same behavior; `see` is called with each request before it is answered.
    public func observed(_ see: @escaping @Sendable (OriginRequest) -> Void) -> Self {
        if let next { return Self(next: { next().observed(see) }) }
        return Self { request in
            see(request)
            return answer(request)
        }
    }

    /// The same behavior with one more header field.
    public func with(header name: String, _ value: String) -> Self {
        changed { $0.headers.append((name, value)) }
    }
}

extension OriginBehavior {
    /// A 200 with these bytes.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "image/png") -> Self {
        respond(OriginResponse(bytes, contentType: contentType))
    }

    /// A 200 with a JPEG.
    public static func jpeg(_ bytes: [UInt8]) -> Self { .bytes(bytes, contentType: "image/jpeg") }

    /// A status with a short text body.
    public static func status(_ status: Int) -> Self {
        respond(
            OriginResponse(
                Array("status \(status)".utf8), contentType: "text/plain", status: status))
    }

    /// A redirect to `location`.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        var response = OriginResponse()
        response.status = status
        response.headers = [("Location", location)]
        return respond(response)
    }

    /// A 200 with `count` bytes that are generated while sending.
    public static func generated(count: Int, contentType: String = "image/jpeg") -> Self {
        var response = OriginResponse()
        response.headers = [("Content-Type", contentType)]
        response.body = .generated(count: count)
        return respond(response)
    }

    /// These bytes, `chunk` at a time with a pause after each chunk until the gate opens.
    public static func slow(
        _ bytes: [UInt8], chunk: Int, every pause: Duration, until gate: Gate? = nil
    ) -> Self {
        .bytes(bytes).changed { $0.pace = .steady(bytes: chunk, every: pause, until: gate) }
    }

    /// These bytes, one `chunk` per step of the turnstile.
    public static func stepped(_ bytes: [UInt8], chunk: Int, by turnstile: Turnstile) -> Self {
        .bytes(bytes).changed { $0.pace = .stepped(bytes: chunk, turnstile) }
    }

    /// Nothing until the gate opens, then these bytes.
    public static func hang(until gate: Gate, then bytes: [UInt8] = []) -> Self {
        .bytes(bytes).changed { $0.headGate = gate }
    }

    /// The head at once, the body when the gate opens.
    public static func hangBody(until gate: Gate, then bytes: [UInt8]) -> Self {
        .bytes(bytes).changed { $0.bodyGate = gate }
    }

    /// These bytes with a `Content-Length` of `declared`.
    public static func lying(length declared: Int, _ bytes: [UInt8]) -> Self {
        .bytes(bytes).changed { $0.length = .declared(declared) }
    }

    /// These bytes with chunked transfer coding.
    public static func chunked(_ bytes: [UInt8]) -> Self {
        .bytes(bytes).changed { $0.length = .chunked }
    }

    /// Closes the connection after sending `count` bytes of the body.
    public static func closing(after count: Int, of bytes: [UInt8]) -> Self {
        .bytes(bytes).changed { $0.closesAfter = count }
    }

    /// Closes the connection without a response.
    public static var closing: Self {
        respond(OriginResponse()).changed { $0.closesAtOnce = true }
    }

    /// Sends exactly these bytes, then closes the connection.
    public static func raw(_ bytes: [UInt8]) -> Self {
        respond(OriginResponse()).changed { $0.rawHead = bytes }
    }

    /// 200 with an ETag, or 304 if the request has it in `If-None-Match`.
    public static func revalidated(
        _ bytes: [UInt8], etag: String, contentType: String = "image/png"
    ) -> Self {
        Self { request in
            var response = OriginResponse(bytes, contentType: contentType)
            if request.header("if-none-match") == etag {
                response = OriginResponse()
                response.status = 304
            }
            response.headers.append(("ETag", etag))
            return response
        }
    }

    /// The behaviors one after another; the last one repeats.
    public static func sequence(_ behaviors: [OriginBehavior]) -> Self {
        let number = Monitor(0)
        return Self(next: {
            let index = number.withLock { index in
                defer { index += 1 }
                return min(index, behaviors.count - 1)
            }
            return behaviors[index].forNextRequest()
        })
    }
}
