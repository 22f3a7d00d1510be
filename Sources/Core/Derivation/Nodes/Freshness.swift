import Dispatching

/// Whether a source's bytes are the newest of their URL, as far as is known.
struct Freshness: Sendable {
    /// When the transfer that brings the bytes began.
    private(set) var began: TransferSerial?
    /// Whether a refresh brought other bytes than there were.
    var isChanged = false
    /// The key was stored while a query was under way: a miss means nothing then.
    var isOvertaken = false
    /// Whether a transfer that began later replaced the original. Waiters get these bytes, which
    /// are stored nowhere and replace nothing.
    private(set) var isOutdated = false
    /// Whether nobody joins it any more.
    private(set) var isClosed = false

    /// A worker has begun the transfer. One that begins again is newer than what replaced it
    /// meanwhile.
    mutating func began(_ serial: TransferSerial) {
        began = serial
        isOutdated = false
    }

    /// Bytes of a transfer that began later replaced the original.
    mutating func outdate() {
        isOutdated = true
        isClosed = true
    }
}
