import Dispatching
import ImageModel
import Messages
import Tables

// Watchers have their image, and wait for stores before they are answered (`waitStoreCache`).
extension Deriver {
    /// Makes a waiter with `waitStoreCache` a watcher: of what a serializer makes of its image, and
    /// of the original.
    mutating func standBy(
        _ waiter: Waiter, _ result: ResultNode, _ image: DeliveredImage, _ block: BlockHandle?
    ) -> Place? {
        let order = waiter.order
        let watcher = Watcher(
            id: waiter.id, cache: block?.worker,
            source: order.plan.includes(.storeOriginal) ? result.source : nil,
            original: order.image.infoOnly ? order.names.plainOriginal : nil,
            stored: image.storedTiers ?? .none)
        guard let transcode = result.transcode else { return awaitOriginal(watcher) }
        return Place(.transcode(transcode, transcodes[transcode].watchers.join(watcher)))
    }

    /// A watcher waits for the store of the original, if there is one.
    mutating func awaitOriginal(_ watcher: Watcher) -> Place? {
        guard let source = watcher.source, sources.contains(source),
            sources[source].storing.isUnderWay
        else { return nil }
        return Place(.original(source, sources[source].storing.watchers.join(watcher)))
    }

    /// Nothing of the original is on its way to a tier any more: nobody waits for that.
    mutating func tellStored(_ storing: OriginalStores) {
        guard !storing.watchers.isEmpty else { return }
        tell(
            .stored(
                storing.watchers.map { watcher in
                    Stored(
                        id: watcher.id,
                        tiers: watcher.original.map(storing.originals.stored) ?? watcher.stored)
                }))
    }
}
