import ImageModel
import Messages

/// One load of this client, from its order to its end: what is asked for, who is told, and how far
/// it is. All tables of the line have the load itself, and no copies of it.
///
/// Unchecked: whoever makes it gives it away with its order, and only the line touches it then.
final class PendingLoad: @unchecked Sendable {
    /// What the caller wants. Its class may change, and what is said when it is sent again.
    var request: LoadRequest
    /// Who is told.
    let task: LoadTask
    /// Of what usually differs between two loads: the rest is compared.
    let hash: Int
    /// The slot that it was begun in; sent again it goes without.
    let firstSlot: String?
    /// Whether it may be one message with others.
    var isShareable = false
    var deadline = Instant(nanoseconds: 0)
    var unservedUntil = Instant(nanoseconds: 0)
    var isSent = false
    var isCancelled = false
    /// Grows with every load.
    var serial: UInt64 = 0
    /// Milliseconds that were left when it was to be sent.
    var millisecondsLeft: Int

    init(_ request: LoadRequest, _ task: LoadTask) {
        (self.request, self.task) = (request, task)
        hash = request.sharingHash
        firstSlot = request.slot
        millisecondsLeft = request.image.timeoutMilliseconds
    }

    var token: Token { request.token }

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
