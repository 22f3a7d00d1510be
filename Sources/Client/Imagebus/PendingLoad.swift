import ImageModel
import Messages

/// One load of this client, from its order to its end: what is asked for, who is told, and how far
/// it is. All tables of the line have the load itself, and no copies of it.
///
/// Unchecked: whoever makes it gives it away with its order, and only the line touches it then, in
/// functions that change one of its fields at a time.
final class PendingLoad: @unchecked Sendable {
    /// What the caller wants. Its class may change, and what is asked of its origin.
    @exclusivity(unchecked) var image: ImageRequest
    /// How it is to be loaded.
    @exclusivity(unchecked) var manner: LoadManner
    /// Names it; the same as long as it is pending.
    let token: Token
    /// Who is told.
    let task: LoadTask
    /// Of what usually differs between two loads: the rest is compared.
    let hash: Int
    /// The slot that it was begun in.
    let slot: String?
    /// What logs say of it. Of loads that are one message the first one has a say in that.
    let logContext: LogContext
    /// Whether it may be one message with others that ask for the same at the same time.
    ///
    /// One in a slot cancels the others of it; one whose trace is recorded is found in logs by
    /// itself; one that brings its bytes along has no URL by which they could be told apart; one
    /// that goes on without its client is found again by its token. Its image has reasons of its
    /// own.
    let mayBeShared: Bool
    /// Whether others may join it, or may have: set when it is submitted.
    var isShareable = false
    /// As it was sent before, and answered; `nil` where nothing is known of it.
    @exclusivity(unchecked) var remembered: RememberedLoad?
    var deadline = Instant(nanoseconds: 0)
    var unservedUntil = Instant(nanoseconds: 0)
    var isSent = false
    /// Its number in the queue of loads to send that it was in last.
    var queueNumber = 0
    var isCancelled = false
    /// Grows with every load.
    var serial: UInt64 = 0
    /// Milliseconds that were left when it was to be sent.
    var millisecondsLeft: Int

    /// A load of an image whose end the task is told.
    init(
        _ image: ImageRequest, _ task: LoadTask, group: GroupID? = nil, wantsProgress: Bool = false,
        wantsInfo: Bool = false, detach: Bool = false, uploadBytes: Int = 0, slot: String? = nil,
        logContext: LogContext = LogContext(), visitor: UInt64 = 0
    ) {
        (token, self.task) = (task.token, task)
        (self.image, self.slot, self.logContext) = (image, slot, logContext)
        hash = image.digest
        mayBeShared =
            slot == nil && !logContext.isSampled && uploadBytes == 0 && !detach
            && image.mayBeShared
        millisecondsLeft = image.timeoutMilliseconds
        manner = LoadManner(
            group: group, wantsProgress: wantsProgress, wantsInfo: wantsInfo, detach: detach,
            uploadBytes: UInt64(uploadBytes), visitor: visitor)
    }

    /// The slot, as long as the load may cancel others in it: not once it is sent again, since what
    /// came into the slot since must go on.
    private var namedSlot: String? { manner.namesSlot ? slot : nil }

    /// As it is sent.
    var message: LoadRequest {
        var image = image
        image.timeoutMilliseconds = millisecondsLeft
        return LoadRequest(
            token: token, group: manner.group, image: image, wantsProgress: manner.wantsProgress,
            wantsInfo: manner.wantsInfo, staleRetries: manner.staleRetries, detach: manner.detach,
            wantsPieces: manner.wantsPieces, uploadBytes: manner.uploadBytes,
            slot: namedSlot, logContext: logContext, visitor: manner.visitor)
    }

    /// Whether a repetition of its answer would be all of it.
    var mayBeRepeated: Bool {
        namedSlot == nil && manner.uploadBytes == 0 && !manner.wantsPieces
    }
}

extension PendingLoad: Equatable {
    static func == (one: PendingLoad, other: PendingLoad) -> Bool { one === other }
}
