/// What the listeners saw besides what the scheduler counts.
struct CoordinatorCounters {
    /// Messages that were not understood.
    var malformedMessages: UInt64 = 0
    /// Workers whose session was ended for breaking the protocol.
    var expelledWorkers: UInt64 = 0
    /// Sessions that ended because the peer did not read.
    var stalledPeers: UInt64 = 0
    /// Connections that ended without ever having had a session: no ZeroMQ, a frame over the limit,
    /// no hello.
    var strangers: UInt64 = 0
    /// Sessions whose connection ended without a goodbye: the peer died, or sent too large a frame.
    var lostClients: UInt64 = 0
    /// The same of workers.
    var lostWorkers: UInt64 = 0
    /// Results that went out in pieces, and images that came in so.
    var pieceDeliveries: UInt64 = 0
    var uploads: UInt64 = 0
}
