import Model
import Testing

@testable import Wire

/// The messages from one kind of peer to another.
struct Direction: CustomTestStringConvertible, Sendable {
    /// The parts of one kind of message.
    struct Sent: Sendable {
        let kind: MessageKind
        let type: any (WireMessage & SendableMetatype).Type
        /// Whether a part of it has no meaning in this direction, and is not read.
        var isReadInPart = false
    }

    let testDescription: String
    let messages: [Sent]
    /// The maximum size of a body in bytes.
    let limit: Int
    /// Decodes the frames and encodes the message again; `nil` if they are refused.
    let pass: @Sendable (Frames) throws -> Frames?

    private init<Message: Equatable & SendableMetatype>(
        _ description: String, limit: Int, _ messages: [Sent],
        _ read: @escaping @Sendable (Frames) throws -> Message,
        _ write: @escaping @Sendable (Message) throws -> Frames
    ) {
        (testDescription, self.limit, self.messages) = (description, limit, messages)
        pass = { frames in
            guard let message = try? read(frames) else { return nil }
            let written = try write(message)
            #expect(try read(written) == message)
            return written
        }
    }

    /// The frames of a random message, which may be too large as a whole.
    func frames(of message: Sent, _ log: FieldLog) throws -> Frames {
        Frames(
            header: FrameHeader(kind: message.kind).bytes, body: try Self.body(message.type, log))
    }

    private static func body<Message: WireMessage>(_ type: Message.Type, _ log: FieldLog) throws
        -> [UInt8]
    {
        try WireBody.written(FieldDrawer.draw(log) as Message)
    }
}

extension Direction {
    static let all = [fromWorkers, toWorkers, fromClients, toClients]

    private static let fromWorkers = Direction(
        "from workers", limit: MessageLimits.backFrameBytesMax,
        [
            Sent(kind: .workerHello, type: WorkerHello.self),
            Sent(kind: .credit, type: CreditGrant.self),
            Sent(kind: .segmentsOpened, type: AnnouncedSegments.self),
            Sent(kind: .segmentsClosed, type: AnnouncedSegments.self),
            Sent(kind: .progress, type: JobProgress.self),
            Sent(kind: .outcome, type: JobOutcome.self),
            Sent(kind: .stored, type: StoredNotice.self),
            Sent(kind: .evicted, type: EvictedBlocks.self),
            Sent(kind: .cacheStatus, type: CacheStatus.self),
            Sent(kind: .goodbye, type: GoodbyeReason.self),
        ], { try $0.workerMessage() }, { try Frames($0) })

    private static let toWorkers = Direction(
        "to workers", limit: MessageLimits.backFrameBytesMax,
        [
            Sent(kind: .workerWelcome, type: WorkerWelcome.self),
            Sent(kind: .helloRequired, type: HelloRequiredMessage.self),
            Sent(kind: .job, type: Job.self), Sent(kind: .adjustJob, type: JobAdjustment.self),
            Sent(kind: .cancelJob, type: CancelledJob.self),
            Sent(kind: .release, type: ReleaseBlocks.self),
            Sent(kind: .touched, type: TouchedBlocks.self),
            Sent(kind: .cacheSettings, type: CacheSettingsMessage.self, isReadInPart: true),
            Sent(
                kind: .downloadSettings, type: DownloadSettingsMessage.self, isReadInPart: true),
            Sent(kind: .drain, type: DrainMessage.self),
            Sent(kind: .refused, type: Refusal.self, isReadInPart: true),
        ], { try $0.workerCommand() }, { try Frames($0) })

    private static let fromClients = Direction(
        "from clients", limit: MessageLimits.frontFrameBytesMax,
        [
            Sent(kind: .clientHello, type: ClientHello.self),
            Sent(kind: .load, type: LoadRequest.self), Sent(kind: .cancel, type: Cancellation.self),
            Sent(kind: .reprioritize, type: Reprioritization.self),
            Sent(kind: .prefetch, type: PrefetchRequest.self),
            Sent(kind: .release, type: ReleaseBlocks.self),
            Sent(kind: .status, type: StatusMessage.self),
            Sent(kind: .failureCacheCommand, type: FailureCacheCommand.self),
            Sent(kind: .cacheCommand, type: CacheCommand.self),
            Sent(kind: .chunk, type: Chunk.self), Sent(kind: .taken, type: TakenBytes.self),
            Sent(kind: .downloadsCommand, type: DownloadsRequest.self),
            Sent(kind: .used, type: UsedVouchers.self),
            Sent(kind: .drainCommand, type: DrainRequest.self),
            Sent(kind: .goodbye, type: GoodbyeReason.self, isReadInPart: true),
        ], { try $0.clientMessage() }, { try Frames($0) })

    static let toClients = Direction(
        "to clients", limit: MessageLimits.frontFrameBytesMax,
        [
            Sent(kind: .clientWelcome, type: ClientWelcome.self),
            Sent(kind: .helloRequired, type: HelloRequiredMessage.self),
            Sent(kind: .event, type: RequestProgress.self), Sent(kind: .reply, type: Reply.self),
            Sent(kind: .statusReport, type: StatusReport.self),
            Sent(kind: .failureCacheReport, type: FailureCacheReport.self),
            Sent(kind: .cacheReport, type: CacheReport.self),
            Sent(kind: .chunk, type: Chunk.self), Sent(kind: .taken, type: TakenBytes.self),
            Sent(kind: .prefetchReport, type: PrefetchReport.self),
            Sent(kind: .drainReport, type: DrainAnswer.self),
            Sent(kind: .refused, type: Refusal.self),
        ], { try $0.serverMessage() }, { try Frames($0) })
}
