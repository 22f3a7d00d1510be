public import Derivation
public import Dispatching
import ImageModel
import Messages

/// Every limit of the scheduler; nothing in it grows beyond what is written here.
public struct SchedulerLimits: Hashable, Sendable {
    /// Of jobs and workers.
    public var dispatch = DispatchLimits()
    /// Of what is made.
    public var derivation = DerivationLimits()

    /// Requests without a terminal reply, all clients together; one more is `busy`.
    public var liveRequestsMax = 65_536
    /// Requests without a terminal reply of one client; one more is `busy`.
    public var requestsPerClientMax = MessageLimits.windowMax
    /// Prefetches of one client that have not ended; one more is `busy`.
    public var batchesPerClientMax = 64
    /// URLs that wait in all prefetches of one client, and their bytes, `prefetchOverheadBytes`
    /// more for each; more is `busy`.
    public var prefetchesPerClientMax = 2 * RequestLimits.prefetchMax
    /// See `prefetchesPerClientMax`.
    public var prefetchBytesPerClientMax = 64 << 20
    /// The same bytes of all clients together; more is `busy`.
    public var prefetchBytesMax = 256 << 20
    /// Bytes that a URL which waits costs besides its text: all that is kept of it is that text.
    public static let prefetchOverheadBytes = 64
    /// URLs of prefetches that are begun in one event.
    public var prefetchesBegunMax = 64
    /// Requests that one event deals with where it concerns many, such as replies of one result or
    /// the ends of a session. The rest follows in the next events. As many alarms ring in one
    /// event.
    public var bulkStepsMax = 64
    /// The same where a request only goes on to other work and nobody is told, which takes a
    /// sixteenth as long. The sooner all of them have joined, the fewer begin the same work a
    /// second time.
    public var bulkMovesMax = 1_024
    /// Entries of the memory tier that the coordinator answers by itself; the oldest makes room.
    public var hitsMax = 100_000
    /// Answers that clients may repeat by themselves at a time; one more withdraws the oldest. 0:
    /// each is asked for.
    public var vouchersMax = 131_072
    /// Requests whose keys are remembered, so that a hit does not derive them again.
    public var namesMax = 4_096

    /// Bytes of large results that clients have not released, all of them together and each. Beyond
    /// that a client is told to copy.
    public var unreleasedBytesMax: UInt64 = 256 << 20
    /// See `unreleasedBytesMax`.
    public var unreleasedBytesPerClientMax: UInt64 = 64 << 20

    /// Sources that failed for good and are remembered, and for how long; 0 milliseconds: for ever.
    public var blacklistMax = 10_000
    /// See `blacklistMax`.
    public var blacklistMilliseconds = 600_000

    /// Used blocks that are collected for one `Touched`: as many as fit one. The load that fills it
    /// is admitted the whole way.
    public var touchedMax = MessageLimits.idsMax
    /// Milliseconds for which they are collected.
    public var touchedMilliseconds = 100

    /// The defaults.
    public init() {}
}
