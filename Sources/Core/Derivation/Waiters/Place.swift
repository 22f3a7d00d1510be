import Tables

/// Where a waiter waits. It holds until an event names the waiter.
package struct Place: Sendable {
    enum Node: Sendable {
        /// For a query of the result's key.
        case lookup(Need<LookupNode>)
        /// With a stale image, for what external caches know of it.
        case validity(Need<ValidityNode>)
        /// For what is laid over its image.
        case overlays(Waiter.ID)
        /// For a result that is being made.
        case result(Need<ResultNode>)
        /// With its image, for the store of the original (`waitStoreCache`).
        case original(SourceNode.ID, WatcherList.Seat)
        /// With its image, for what a serializer makes of it (`waitStoreCache`).
        case transcode(TranscodeNode.ID, WatcherList.Seat)
    }

    let node: Node

    init(_ node: Node) { self.node = node }
}

/// Names a transfer whose progress was told.
package struct Transfer: Hashable, Sendable {
    let source: SourceNode.ID
}
