public import ImageModel
public import Messages

// Loads for callers that want to be called, as SDWebImage's are.
extension ImagebusClient {
    /// Begins a load and calls `completion` once with how it ended, and before it `progress`, if
    /// that is there, with how far it is, `partial` with images of what has come so far, which
    /// asks for such (`RequestOptions.progressiveLoad`), and `cached` with the cached image of a
    /// load with `refreshCached`. All run where `executor` says. The newest events before the end
    /// are kept for an executor that is busy.
    ///
    /// `logContext` is what the logs of all processes say of the load. See
    /// `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:visitor:)` for the rest.
    @discardableResult
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        on executor: CallbackExecutor, visitor: UInt64 = 0, logContext: LogContext = LogContext(),
        progress: (@Sendable (RequestProgress) -> Void)? = nil,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        cached: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let request = partial == nil ? request : request.withPartialImages
        let callbacks = LoadCallbacks(
            on: executor, progress: progress, partial: partial, cached: cached,
            completion: completion)
        if slot == nil, !logContext.isSampled, let response = answerAtHand(to: request) {
            let task = LoadTask(token: tokens.next(), endedWith: response, commands: commands)
            callbacks.end(with: .success(response), onLineOf: nil)
            return task
        }
        return load(
            request, slot: slot, group: group, wantsProgress: progress != nil, visitor: visitor,
            logContext: logContext, callbacks: callbacks)
    }

    /// The same for callbacks that are there already, where nothing is at hand.
    func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil, wantsProgress: Bool,
        visitor: UInt64, logContext: LogContext = LogContext(), callbacks: LoadCallbacks
    ) -> LoadTask {
        let task = LoadTask(
            token: tokens.next(), commands: commands, callbacks: callbacks,
            keeper: memory?.keeper(of: request))
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress, slot: slot,
                logContext: logContext, visitor: visitor))
        return task
    }
}

extension ImageRequest {
    fileprivate var withPartialImages: ImageRequest {
        guard !options.contains(.progressiveLoad) else { return self }
        var request = self
        request.options.insert(.progressiveLoad)
        return request
    }
}
