public import ImageModel

extension ImagebusClient {
    /// Puts the bytes of an image under a key, as they are, and says which of the tiers have them
    /// now; the text of the key is that of replies. A load that asks these tiers finds them.
    ///
    /// The entry has these tags, and these bytes of the caller's own; without any it has none,
    /// whatever the one had that it takes the place of (SEMANTICS §5.20, §5.21).
    ///
    /// For operators: on `front.sock` it is refused. At most 64 MiB, or what the coordinator is
    /// configured for. Throws `badImageData` where the bytes are no image, `limitExceeded` where
    /// there are too many, `arenaFull` where no tier took them, `invalidRequest` for a key, a
    /// tag or extended data that is none.
    public func put(
        _ bytes: [UInt8], under key: String, cache: String? = nil, in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        var request = ImageRequest(url: "")
        request.infoOnly = true
        request.storeCacheTypes = tiers
        request.context.cache = cache
        request.context.key = .text(key)
        (request.context.tags, request.context.extendedData) = (tags, extendedData)
        try request.context.check()
        defer { memory?.remove(key: key) }
        return try await load(request, uploading: bytes).response.storedTiers ?? .none
    }
}
