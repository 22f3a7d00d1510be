/// Bytes, with what an HTTP origin would say of them.
public struct Loaded: Hashable, Sendable {
    /// The bytes of an image.
    public var bytes: [UInt8]
    /// Their media type.
    public var contentType: String?
    /// By what they are known again: a load that asks whether they are still the same is then
    /// answered without them.
    public var etag: String?
    /// The same by a date of HTTP.
    public var lastModified: String?
    /// For how long they may be kept, in the words of `Cache-Control`.
    public var cacheControl: String?

    /// Bytes of which nothing else is known. Of each text that is set later 1,024 bytes count.
    public init(_ bytes: [UInt8], etag: String? = nil) {
        self.bytes = bytes
        self.etag = etag
    }
}
