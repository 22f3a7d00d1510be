public import ImageModel
public import Messages

// Images that have no URL.
extension ImagebusClient {
    /// Begins a load of an image that the caller has: `bytes` are sent to the stack in pieces
    /// (PROTOCOL §10.1), and go the way of downloaded ones. `request.url` is empty.
    ///
    /// The same bytes with the same steps are the same work: they are joined with it, and may come
    /// from a cache, under a key that is made of a digest of the bytes. At most 64 MiB, or what the
    /// coordinator is configured for. The client keeps the bytes until the load has ended, to send
    /// them again should the coordinator be replaced; the array is shared, not copied. Uploads of
    /// one client share a window, and take turns. The deadline of the request holds for the sending
    /// too.
    ///
    /// Ends as other loads do; with `invalidRequest` also where there is a URL or there are no
    /// bytes, with `limitExceeded` where there are too many, with `badImageData` where they are no
    /// image, with `versionMismatch` where the coordinator is too old to take any.
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        wantsProgress: Bool = false, trace: TraceContext? = nil
    ) -> LoadTask {
        let task = LoadTask(token: tokens.next(), wantsProgress: wantsProgress, commands: commands)
        return begin(task, request, bytes, group, wantsProgress: wantsProgress, trace)
    }

    /// The same for callers that want to be called: `completion` runs once, where `executor` says,
    /// with how it ended.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], on executor: CallbackExecutor,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let callbacks = LoadCallbacks(
            on: executor, progress: nil, partial: nil, completion: completion)
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        return begin(task, request, bytes, nil, wantsProgress: false, nil)
    }

    private func begin(
        _ task: LoadTask, _ request: ImageRequest, _ bytes: [UInt8], _ group: GroupID?,
        wantsProgress: Bool, _ trace: TraceContext?
    ) -> LoadTask {
        if let refusal = Self.refusal(of: request, bytes) {
            task.finish(.failure(refusal))
            return task
        }
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress,
                uploadBytes: bytes.count, logContext: LogContext(trace: trace)),
            uploading: bytes)
        return task
    }

    /// The same on a thread that may block; returns how it ended. See `loadAndWait(_:group:)`.
    public func loadAndWait(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        if let refusal = Self.refusal(of: request, bytes) { throw refusal }
        let task = LoadTask(token: tokens.next(), commands: commands)
        let pending = PendingLoad(
            request, task, group: group, uploadBytes: bytes.count,
            logContext: LogContext(trace: trace))
        if !leadership.run(pending, uploading: bytes) { post(pending, uploading: bytes) }
        return try task.waitForResponse()
    }

    /// The same; calls `completion` once with how it ended, where `executor` says. `visitor` as in
    /// `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:visitor:)`; `logContext` is what the
    /// logs of all processes say of the load.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        on executor: CallbackExecutor, visitor: UInt64 = 0, logContext: LogContext = LogContext(),
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let callbacks = LoadCallbacks(on: executor, progress: nil, completion: completion)
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        if let refusal = Self.refusal(of: request, bytes) {
            task.finish(.failure(refusal))
            return task
        }
        post(
            PendingLoad(
                request, task, group: group, uploadBytes: bytes.count, logContext: logContext,
                visitor: visitor),
            uploading: bytes)
        return task
    }

    private static func refusal(of request: ImageRequest, _ bytes: [UInt8]) -> ImageError? {
        if !request.url.isEmpty {
            return ImageError(.invalidRequest, "an image that is uploaded has no URL")
        }
        if bytes.isEmpty { return ImageError(.invalidRequest, "an image without bytes") }
        return nil
    }
}
