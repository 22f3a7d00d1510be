/// An origin of one image, `/a.jpg`, which may have other bytes later.
public struct ChangingImage: Sendable {
    /// It serves whatever else a test wants as well.
    public let origin = OriginServer()
    /// What the image is at first.
    public let old: [UInt8]
    /// What it becomes.
    public let new: [UInt8]

    private static let path = "/a.jpg"
    private static let contentType = "image/jpeg"

    /// An origin that answers nothing until it is told what.
    public init(old: [UInt8], new: [UInt8]) { (self.old, self.new) = (old, new) }

    /// The URL of the image.
    public var url: String { origin.url(Self.path) }

    /// How many requests came for it.
    public var requestCount: Int { origin.requestCount(Self.path) }

    /// `If-None-Match` of all of them, in order.
    public var conditions: [String?] {
        origin.requests(Self.path).map { $0.header("if-none-match") }
    }

    /// Waits for so many requests for it; false where they do not come in time.
    public func waitForRequest(count: Int = 1) async -> Bool {
        await origin.waitForRequest(Self.path, count: count)
    }

    /// It is answered so from now on.
    public func answer(_ behavior: OriginBehavior) { origin.route(Self.path, behavior) }

    /// It is these bytes from now on, with these fields, and nobody can ask whether it changed.
    public func answerPlainly(_ bytes: [UInt8], _ headers: [(String, String)] = []) {
        answer(.bytes(bytes, contentType: Self.contentType), headers)
    }

    /// It is these bytes from now on, with these fields, and 304 answers who has this `etag`.
    public func answer(
        _ bytes: [UInt8], etag: String = "\"1\"", _ control: String? = nil, age: Int? = nil,
        _ headers: [(String, String)] = []
    ) {
        let freshness = [("Cache-Control", control), ("Age", age.map { "\($0)" })]
        let said = freshness.compactMap { name, value in value.map { (name, $0) } }
        answer(.revalidated(bytes, etag: etag, contentType: Self.contentType), said + headers)
    }

    private func answer(_ behavior: OriginBehavior, _ headers: [(String, String)]) {
        answer(headers.reduce(behavior) { $0.with(header: $1.0, $1.1) })
    }
}
