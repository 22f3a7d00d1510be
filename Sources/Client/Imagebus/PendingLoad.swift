import ImageModel
import Messages

/// One load of this client, from its order to its end: what is asked for, who is told, and how far
/// it is. All tables of the line have the load itself, and no copies of it.
///
/// Unchecked: whoever makes it gives it away with its order, and only the line touches it then.
final class PendingLoad: @unchecked Sendable {
    /// What the caller wanted at first: read in place, since copying a request costs as much as
    /// sending it.
    private let original: LoadRequest
    /// What it wants now, where that has changed.
    private var changed: Changed?
    /// Names it; the same as long as it is pending.
    let token: Token
    /// Who is told.
    let task: LoadTask
    /// Of what usually differs between two loads: the rest is compared.
    let hash: Int
    /// The slot that it was begun in; sent again it goes without.
    let firstSlot: String?
    /// Whether its request permits that it is one message with others (`LoadRequest.mayBeShared`).
    let mayBeShared: Bool
    /// Milliseconds that the caller gives it.
    let timeoutMilliseconds: Int
    /// Bytes that it brings along.
    let uploadBytes: UInt64
    /// Whether others may join it, or may have: set when it is submitted.
    var isShareable = false
    /// As it was sent before, and answered; `nil` where nothing is known of it.
    var remembered: RememberedLoad?
    var deadline = Instant(nanoseconds: 0)
    var unservedUntil = Instant(nanoseconds: 0)
    var isSent = false
    var isCancelled = false
    /// Grows with every load.
    var serial: UInt64 = 0
    /// Milliseconds that were left when it was to be sent.
    var millisecondsLeft: Int

    init(_ request: consuming LoadRequest, _ task: LoadTask) {
        (token, self.task) = (request.token, task)
        hash = request.sharingHash
        (firstSlot, mayBeShared) = (request.slot, request.mayBeShared)
        timeoutMilliseconds = request.image.timeoutMilliseconds
        uploadBytes = request.uploadBytes
        millisecondsLeft = timeoutMilliseconds
        // Assigned last, so that the request is moved and not copied.
        original = request
    }

    private final class Changed {
        let request: LoadRequest

        init(_ request: LoadRequest) { self.request = request }
    }

    /// What the caller wants, as a copy. Its class may change, and what is said when it is sent
    /// again.
    var request: LoadRequest {
        get { changed?.request ?? original }
        set { changed = Changed(newValue) }
    }

    /// Whether the same is wanted here, but for the token.
    func saysTheSame(as other: LoadRequest) -> Bool {
        changed?.request.saysTheSame(as: other) ?? original.saysTheSame(as: other)
    }

    /// As it is sent.
    var message: LoadRequest {
        var message = request
        message.image.timeoutMilliseconds = millisecondsLeft
        return message
    }
}

extension PendingLoad: Equatable {
    static func == (one: PendingLoad, other: PendingLoad) -> Bool { one === other }
}
