import ImageModel
public import Messages

/// How a request ended, for the log of the coordinator.
public struct RequestRecord: Hashable, Sendable {
    /// As the client wrote it, secrets included: only `SourceURL.forLogs` of it is for people.
    public let url: String
    /// How often it was begun: more than once where what was made for it was lost.
    public let attempts: Int
    /// What logs say of it besides.
    public let logContext: LogContext
    /// Its terminal reply.
    public let reply: Reply

    /// Describes the end of a load that is answered with `reply`.
    public init(_ load: LoadRequest, attempts: Int = 1, _ reply: Reply) {
        self.init(url: load.image.url, attempts: attempts, load.logContext, reply)
    }

    init(url: String, attempts: Int, _ logContext: LogContext, _ reply: Reply) {
        self.url = url
        self.attempts = attempts
        self.logContext = logContext
        self.reply = reply
    }
}
