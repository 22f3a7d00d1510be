package import Dispatching
package import ImageModel
package import Messages
package import Tables

/// Makes images for waiters, each piece of work once for all that need it.
///
/// A waiter waits at a node, which does one piece of work:
///
///     waiters ──► LookupNode                               a query of the result's key
///     waiters ──► ValidityNode                             what external caches know of its
///                                                          freshness
///     waiters ──► ResultNode ──► DecodeNode ──► SourceNode a result, its pixels, its bytes
///     waiters, results ────────► DecodeNode ──► SourceNode what is laid over it
///                 TranscodeNode                            what a serializer makes, under way
///                                                          to the disk
///                 PartialNode                              an image of what has arrived so far
///
/// A waiter is opaque: an id, and what is wanted. Calls change the state at once; what became of
/// waiters collects in a queue (`DerivationEvent`), which is taken after each call. Jobs and
/// workers are the dispatcher's: nodes submit work, and hear what came of it.
///
/// A job holds the blocks that it reads while it is there; a node holds what it keeps. What is lost
/// with a worker tears down the nodes that need it, and their waiters begin again.
package struct Deriver: Sendable {
    private let passing = PassedByAddress()
    let limits: DerivationLimits
    /// Names header values in cache keys without telling them.
    let variantDigest: @Sendable ([HTTPHeader]) -> String

    // What is being done, by what it is.
    var lookups = NodeTable<LookupNode>()
    var validities = NodeTable<ValidityNode>()
    var results = NodeTable<ResultNode>()
    var decodes = NodeTable<DecodeNode>()
    var sources = NodeTable<SourceNode>()
    /// Other encodings of what was made, for the disk.
    var transcodes = SlotTable<TranscodeNode>()
    /// Images of what has arrived so far.
    var partials = SlotTable<PartialNode>()
    /// What waiters have laid over their images.
    var gatherings: [Waiter.ID: Gathering] = [:]
    /// Bytes of overlays' pixels. They do not count as output of decoders: a request that holds
    /// overlays may wait for space there.
    var overlayBytes: OverlayBytes { didSet { dispatcher.pixelBytesApart = overlayBytes.count } }

    /// Which names of caches stand for several.
    package var layout = CacheLayout() { didSet { changes.restart() } }

    /// Jobs of the cache in which caches of others have a part.
    var errands = CacheErrands()
    /// Stores and removals, as far as hits of caches of others may be older; kept while there are
    /// such caches.
    var changes = EntryChangeLog()

    /// Texts of entries that the cache is being told of, that their origins have confirmed them.
    var renewing: Set<String> = []

    /// Gives the work to workers.
    package internal(set) var dispatcher: Dispatcher
    /// What the outcome of each job is for. Jobs that nobody wants any more are not in it.
    var purposes: [JobID: JobPurpose] = [:]

    package internal(set) var figures = DerivationFigures()
    package private(set) var events = Fifo<DerivationEvent>()

    /// A deriver without waiters and workers.
    ///
    /// `variantDigest` is of the values on which an origin's answer depends: short, fit for a key,
    /// and such that nobody can compute the digest of a guess.
    package init(
        limits: DerivationLimits, dispatch: DispatchLimits,
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        self.variantDigest = variantDigest
        overlayBytes = OverlayBytes(max: limits.overlayBytesMax)
        dispatcher = Dispatcher(limits: dispatch)
    }

    /// Whether there is something to take, or to go on with. Looked at several times an event.
    package var hasNews: Bool {
        events.count > 0 || dispatcher.completions.count > 0 || !dispatcher.actions.isEmpty
    }

    /// The next event, the earliest first. Each is told once.
    package mutating func nextEvent() -> DerivationEvent? {
        events.count == 0 ? nil : events.popFirst()
    }

    /// Whoever knows the waiters is to be told.
    mutating func tell(_ event: DerivationEvent) { events.append(event) }

    /// The same of waiters, if there are any.
    mutating func tell(
        _ waiters: [Waiter], _ event: (_ waiters: [Waiter.ID]) -> DerivationEvent
    ) {
        if !waiters.isEmpty { tell(event(waiters.map(\.id))) }
    }

    /// Whether all events were taken.
    var isSilent: Bool { events.count == 0 }
}
