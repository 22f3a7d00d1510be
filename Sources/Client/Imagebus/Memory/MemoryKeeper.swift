import ImageModel
import Messages

/// Keeps the answer of one load in the memory of the client, where it may be stale.
struct MemoryKeeper: Sendable {
    let cache: ClientMemoryCache
    let key: RequestKey
    /// Removals before the load began: after one more its answer is not kept.
    let removals: UInt64

    func keep(_ result: Result<ImageResponse, ImageError>) {
        guard case .success(let response) = result else { return }
        cache.keep(response, under: key, asOf: removals)
    }
}

extension ImageRequest {
    /// Whether an answer may be given again without asking, as far as the request says: where it
    /// wants memory, and nothing that only the stack knows.
    var mayBeStale: Bool {
        !url.isEmpty && queryCacheTypes.contains(.memory) && storeCacheTypes.contains(.memory)
            && !wantsExplanation && !context.wantsExtendedData
            && options.isDisjoint(with: [
                .refreshCached, .respectCacheControl, .fromLoaderOnly, .waitStoreCache,
                .progressiveLoad,
            ])
    }
}

extension ImageResponse {
    /// Whether it is the image that was asked for, with its bytes.
    var isWhole: Bool {
        status == .ok && bytes != nil && fallbackFor == nil && arrivedBytes == nil && !isDamaged
    }

    /// The same as an answer of the memory tier.
    var ofMemory: ImageResponse {
        ImageResponse(ImageAccount(ofMemory: account), bytes)
    }
}
