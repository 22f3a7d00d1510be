/// What the doors saw besides what the scheduler counts.
struct CoordinatorCounters {
    /// Messages that were not understood.
    var malformedMessages: UInt64 = 0
    /// Workers whose session was ended for breaking the protocol.
    var expelledWorkers: UInt64 = 0
    /// Sessions that ended because the peer did not read.
    var stalledPeers: UInt64 = 0
}
