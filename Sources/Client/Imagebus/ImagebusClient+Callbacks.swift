public import ImageModel
public import Messages

// Loads for callers that want to be called, as SDWebImage's are.
extension ImagebusClient {
    /// Begins a load and calls `completion` once with how it ended, and before it `progress`, if
    /// that is there, with how far it is, and `partial` with images of what has come so far, which
    /// asks for such (`RequestOptions.progressiveLoad`). All run where `executor` says. Of progress
    /// and partial images the newest ones are kept for an executor that is busy.
    ///
    /// See `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:visitor:)` for the rest.
    @discardableResult
    public func load(
        _ request: ImageRequest, slot: String? = nil, group: GroupID? = nil,
        on executor: CallbackExecutor, visitor: UInt64 = 0,
        progress: (@Sendable (RequestProgress) -> Void)? = nil,
        partial: (@Sendable (ImageResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let callbacks = LoadCallbacks(
            on: executor, progress: progress, partial: partial, completion: completion)
        var request = request
        if partial != nil { request.options.insert(.progressiveLoad) }
        if slot == nil, let response = answerAtHand(to: request) {
            let task = LoadTask(token: tokens.next(), endedWith: response, commands: commands)
            callbacks.tell(.end(.success(response)), onLineOf: nil)
            return task
        }
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        let load = LoadRequest(
            token: task.token, group: group, image: request, wantsProgress: progress != nil,
            slot: slot, visitor: visitor)
        post(.load(load, task), task)
        return task
    }
}
