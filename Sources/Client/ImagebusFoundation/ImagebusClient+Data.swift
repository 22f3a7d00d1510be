public import FoundationEssentials
public import ImageModel
public import Imagebus
public import Messages

// Images that a program has as `Data`. Each call copies them once; the calls of arrays that have
// the same names say all else.
extension ImagebusClient {
    /// Begins a load of an image that the caller has; `request.url` is empty.
    public func load(
        _ request: ImageRequest, uploading data: Data, group: GroupID? = nil,
        wantsProgress: Bool = false, trace: TraceContext? = nil
    ) -> LoadTask {
        load(
            request, uploading: Array(data), group: group, wantsProgress: wantsProgress,
            trace: trace)
    }

    /// The same; `completion` runs once, where `executor` says, with how it ended.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading data: Data, on executor: CallbackExecutor,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        load(request, uploading: Array(data), on: executor, completion: completion)
    }

    /// The same on a thread that may block; returns how it ended.
    public func loadAndWait(
        _ request: ImageRequest, uploading data: Data, group: GroupID? = nil,
        trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        try loadAndWait(request, uploading: Array(data), group: group, trace: trace)
    }

    /// Puts the bytes of an image under a key, as they are, and says which of the tiers have them
    /// now. For operators.
    public func put(
        _ data: Data, under key: String, cache: String? = nil, in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        try await put(
            Array(data), under: key, cache: cache, in: tiers, tags: tags,
            extendedData: extendedData)
    }
}
