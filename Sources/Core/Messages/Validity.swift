public import ImageModel

/// How long an image may be used, and by what its origin knows it again (SEMANTICS §6.5).
public struct Validity: Hashable, Sendable {
    /// Until when who asked may use it; `nil` where that is not known. In replies alone.
    public var expiry: HTTPExpiry?
    /// What its origin says of caching; `nil` where that is not known, or does not count.
    public var caching: OriginCaching?
    /// The origin's entity tag, of the source; in messages between workers and coordinator it may
    /// be a mark in its place.
    public var etag: String?
    /// When the origin last changed the source, in its words.
    public var lastModified: String?
    /// Why it was delivered although it is stale (`stale-if-error`); `nil`: for no such reason.
    public var originFailure: ImageError?

    /// Says what is known.
    public init(
        expiry: HTTPExpiry? = nil, caching: OriginCaching? = nil, etag: String? = nil,
        lastModified: String? = nil, originFailure: ImageError? = nil
    ) {
        (self.expiry, self.caching) = (expiry, caching)
        self.etag = etag
        self.lastModified = lastModified
        self.originFailure = originFailure
    }

    /// That of what the cache keeps.
    package init(_ metadata: StoredMetadata) {
        self.init(
            caching: metadata.caching, etag: metadata.etag, lastModified: metadata.lastModified)
    }
}
