/// An origin with one image, `/a.jpg`, whose bytes can change.
public struct ChangingImage: Sendable {
    /// The server; tests can add further routes.
    public let origin = OriginServer()
    /// The bytes of the image at first.
    public let old: [UInt8]
    /// The bytes of the image after the change.
    public let new: [UInt8]

    private static let path = "/a.jpg"
    private static let contentType = "image/jpeg"

    /// An origin without a route yet; `answer` adds it.
    public init(old: [UInt8], new: [UInt8]) { (self.old, self.new) = (old, new) }

    /// The URL of the image.
    public var url: String { origin.url(Self.path) }

    /// The number of requests for the image.
    public var requestCount: Int { origin.requestCount(Self.path) }

    /// The `If-None-Match` fields of all requests, in order.
    public var conditions: [String?] {
        origin.requests(Self.path).map { $0.header("if-none-match") }
    }

    /// Waits for `count` requests for the image. Returns false if they don't arrive in time.
    public func waitForRequest(count: Int = 1) async -> Bool {
        await origin.waitForRequest(Self.path, count: count)
    }

    /// Sets how the image is answered from now on.
    public func answer(_ behavior: OriginBehavior) { origin.route(Self.path, behavior) }

    /// Serves these bytes with these header fields from now on, without a validator.
    public func answerPlainly(_ bytes: [UInt8], _ headers: [(String, String)] = []) {
        answer(.bytes(bytes, contentType: Self.contentType), headers)
    }

    /// Serves these bytes with these header fields from now on, and answers 304 to a request with
    /// this `etag`.
    public func answer(
        _ bytes: [UInt8], etag: String = "\"1\"", _ control: String? = nil, age: Int? = nil,
        _ headers: [(String, String)] = []
    ) {
        let freshness = [("Cache-Control", control), ("Age", age.map { "\($0)" })]
        let fields = freshness.compactMap { name, value in value.map { (name, $0) } }
        answer(.revalidated(bytes, etag: etag, contentType: Self.contentType), fields + headers)
    }

    private func answer(_ behavior: OriginBehavior, _ headers: [(String, String)]) {
        answer(headers.reduce(behavior) { $0.with(header: $1.0, $1.1) })
    }
}
