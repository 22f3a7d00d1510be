public import ImageModel

/// How long an image may be used, and by what its origin knows it again (SEMANTICS §6.5).
public struct Validity: Hashable, Sendable {
    /// As its origin says; `nil` where that is not known.
    public var expiry: HTTPExpiry?
    /// The origin's entity tag, of the source; in messages between workers and coordinator it may
    /// be a mark in its place.
    public var etag: String?
    /// When the origin last changed the source, in its words.
    public var lastModified: String?
    /// Why it was delivered although it is stale (`stale-if-error`); `nil`: for no such reason.
    public var originFailure: ImageError?

    /// Says what is known.
    public init(
        expiry: HTTPExpiry? = nil, etag: String? = nil, lastModified: String? = nil,
        originFailure: ImageError? = nil
    ) {
        self.expiry = expiry
        self.etag = etag
        self.lastModified = lastModified
        self.originFailure = originFailure
    }

    /// That of what the cache keeps.
    package init(_ metadata: StoredMetadata) {
        self.init(
            expiry: metadata.expiry, etag: metadata.etag, lastModified: metadata.lastModified)
    }
}
