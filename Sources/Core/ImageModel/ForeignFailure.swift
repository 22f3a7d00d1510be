/// How a failure is called by whoever wrote the worker that failed: the domain and the code of an
/// `NSError` of one of SDWebImage's plugins. It reaches the caller as it was said.
public struct ForeignFailure: Hashable, Sendable {
    /// Whose numbers these are, such as `PhotosErrorDomain`.
    public var domain: String
    /// Which failure of the domain.
    public var code: Int64
    /// Whether the URL is not asked again for a while, as after a failure for good.
    public var blocks: Bool

    /// Bytes of a domain.
    public static let domainBytesMax = 128

    /// Names a failure.
    public init(domain: String, code: Int64, blocks: Bool = false) {
        self.domain = domain
        self.code = code
        self.blocks = blocks
    }
}
