import Derivation
public import ImageModel
public import Messages
import Tables

/// A hit that was found the whole way once. The same load again, whoever makes it, gets the same
/// answer for as long as its entry of the index lives.
public struct HitTicket: Hashable, Sendable {
    let place: HitIndex.Place
    let block: BlockID
    /// The plain text of its original, and on what header fields that depended: what is learned of
    /// other texts concerns it not.
    let plainOriginal: String
    let fields: [String]?
    /// What must not be on the blacklist; `nil` where that does not matter.
    let source: ScopedSource?
    /// The answer.
    public let image: DeliveredImage
}

// A repeated hit: what depends on the request alone was found out before, what may have changed
// since is looked at again.
extension Scheduler {
    /// The ticket of a load that a hit answers now; `nil` where none does, for large results, whose
    /// answer depends on what the client keeps, and for loads with a slot, which may end others.
    public mutating func hitTicket(for load: LoadRequest, _ terms: LoadTerms) -> HitTicket? {
        guard load.slot == nil, cache != nil, terms.firstRefusal == nil,
            (try? load.image.checkWishes()) != nil,
            blacklistEntry(of: load.image, terms) == nil,
            let names = try? names(of: load.image, terms),
            JobPlan(load, terms, names).mayComeFromMemory,
            let entry = memory.hits.entry(for: names.result, at: now),
            !ResultBlocks.isLarge(entry.reference)
        else { return nil }
        return HitTicket(
            place: entry.place, block: entry.reference.block, plainOriginal: names.plainOriginal,
            fields: naming.variances[names.plainOriginal],
            source: load.image.options.contains(.retryFailed)
                ? nil : ScopedSource(names.source, terms),
            image: entry.delivered(for: load.image, names))
    }

    /// Admits and answers a load that has a ticket; the caller sends the ticket's image. `false`
    /// where it did nothing, since `load` has to be told the whole way: the entry has gone, the
    /// token is in use, the client is not there, it is time to tell the cache what was used.
    public mutating func answer(
        _ ticket: HitTicket, again token: Token, of client: ClientID, at moment: Instant
    ) -> Bool {
        let now = max(now, moment)
        guard !drain.isBegun, cache != nil,
            memory.touches.count(with: ticket.block) < limits.touchedMax,
            naming.variances.isEmpty
                ? ticket.fields == nil : naming.variances[ticket.plainOriginal] == ticket.fields,
            memory.hits.isLive(ticket.place, at: now), clients.keys.contains(client),
            tokens.isEmpty || !tokens.keys.contains(token),
            prefetching.tokens.isEmpty || !prefetching.tokens.keys.contains(token),
            blacklist.isEmpty || ticket.source.flatMap({ blacklist.entry($0, at: now) }) == nil
        else { return false }
        self.now = now
        figures.counters.requests += 1
        figures.counters.memoryHits += 1
        memory.touches.add(ticket.block, at: now)
        return true
    }
}

extension Scheduler {
    /// What keys were derived of requests is derived anew: names may mean something else now.
    public mutating func forgetNames() { naming.memo.removeAll() }
}

extension HitIndex.Entry {
    /// What a request that it answers gets.
    func delivered(for image: ImageRequest, _ names: RequestNames) -> DeliveredImage {
        DeliveredImage(
            reference: image.infoOnly ? nil : reference, info: info, cacheType: .memory,
            key: names.resultKey,
            storedTiers: image.options.contains(.waitStoreCache) ? .memory : nil,
            scaleFactor: image.context.scaleFactor ?? names.scaleFactor)
    }
}
