/// A failure in a domain of the author's own: the caller gets domain, code and sentence as they
/// are.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whose numbers these are, such as `PhotosErrorDomain`: 1 to 128 bytes of UTF-8, no zero.
    public var domain: String
    /// Which failure of the domain.
    public var code: Int64
    /// One sentence for people, of which 1,024 bytes travel.
    public var message: String
    /// Whether the URL is not asked again for a while.
    public var blocks: Bool

    /// Names a failure.
    public init(domain: String, code: Int64, _ message: String, blocks: Bool = false) {
        (self.domain, self.code) = (domain, code)
        (self.message, self.blocks) = (message, blocks)
    }

    /// `PhotosErrorDomain (10001): no such image`
    public var description: String { "\(domain) (\(code)): \(message)" }
}
