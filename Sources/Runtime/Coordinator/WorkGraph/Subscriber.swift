import Model

/// A subscriber: the part of a waiting request on which the work depends. Immutable while it waits.
struct Subscriber: Sendable {
    typealias ID = SlotID<Subscriber>

    let id: ID
    let request: AdmittedRequest
    /// Tiers with an entry under the result's key that the result is to replace.
    let replaced: CacheTypes
    /// Tiers that were queried and missed.
    let missed: MissedTiers
    /// Notifications wanted before the image is complete.
    let interests: Interests

    /// Notifications during the transfer.
    struct Interests: OptionSet, Sendable {
        let rawValue: UInt8

        /// Transfer progress.
        static let progress = Interests(rawValue: 1 << 0)
        /// The image header as soon as it is available.
        static let info = Interests(rawValue: 1 << 1)
        /// Partial images from the data received so far.
        static let partials = Interests(rawValue: 1 << 2)
        /// Notifications that require examining partial data.
        static let early: Interests = [.info, .partials]
    }

    /// The store policy for the result, which replaces outdated entries.
    var storePolicy: StorePolicy {
        StorePolicy(
            tiers: request.plan.storeTiers.union(replaced), waitsForDisk: request.waitsForStores,
            serializer: request.serializer, tags: request.terms.tags)
    }
}

/// Tiers that were queried and missed.
struct MissedTiers: Sendable {
    var result = CacheTypes.none
    var original = CacheTypes.none

    /// The missed tiers for the original under the texts of a request.
    func original(of request: AdmittedRequest) -> CacheTypes {
        request.names.plainOriginal == request.names.plainResult ? result : original
    }
}

/// The position at which a subscriber waits. Valid until an event names the subscriber.
enum Place: Sendable {
    /// For a query of the result's key.
    case lookup(Need<LookupNode>)
    /// With a stale image, for freshness information from external caches.
    case validity(Need<ValidityNode>)
    /// For the overlays of its image.
    case overlays(Subscriber.ID)
    /// For a result in production.
    case result(Need<ResultNode>)
    /// With its image, for the store of the original (`waitStoreCache`).
    case original(SourceNode.ID, WatcherList.Seat)
    /// With its image, for the serialization of it (`waitStoreCache`).
    case transcode(TranscodeNode.ID, WatcherList.Seat)
}

/// Identifies a transfer in progress reports.
struct Transfer: Hashable, Sendable {
    let source: SourceNode.ID
}

/// A finished image, or its properties.
struct FinishedProduct: Sendable {
    let image: DeliveredImage
    let timings: StageTimings
    /// The provenance of the source bytes.
    let provenance: Provenance
    /// Whether the source bytes were fetched.
    let isFetched: Bool
    /// Accounts of the decode and the transform.
    let decoded: DecodeAccount?
    let transformed: TransformAccount?

    /// Whether the source bytes came from the cache.
    var isOfCachedOriginal: Bool { provenance.tier != .none }
}

// Cancellation and changes of urgency of subscribers.
extension WorkGraph {
    /// Removes a subscriber. Unwanted work is removed from the tables in the same step in which its
    /// worker is notified, so that new subscribers get new work.
    func leave(_ place: Place) {
        switch place {
        case .lookup(let need): detach(from: need)
        case .validity(let need): detach(from: need)
        case .overlays(let id): leaveOverlays(id)
        case .result(let need):
            detach(from: need)
            // Once the result exists, a cancel affects only the reply and not the store.
            if results.contains(need.node), results[need.node].consumers.isEmpty {
                waitsForSpace(need.node, false)
            }
        case .original(let node, let seat): sources[node].storing.watchers.leave(seat)
        case .transcode(let node, let seat): transcodes[node].watchers.leave(seat)
        }
    }

    /// Updates the urgency of a subscriber. Shared work runs in the highest class of its
    /// subscribers.
    func reprioritize(_ place: Place, _ urgency: Urgency) {
        switch place {
        case .lookup(let need): update(need, urgency)
        case .validity(let need): update(need, urgency)
        case .overlays(let id): reprioritizeOverlays(of: id, urgency)
        case .result(let need): update(need, urgency)
        // A store keeps the class with which it was started; it delays only this reply.
        case .original, .transcode: break
        }
    }

    /// Whether the subscriber's next job is waiting for a worker.
    func waitsForWorker(_ place: Place) -> Bool {
        awaitedJob(at: place).map { dispatcher.isWaiting(awaited($0)) } ?? false
    }

    /// The pool of that job if the pool has no connected workers.
    func missingWorkers(at place: Place) -> MissingWorkers? {
        awaitedJob(at: place).flatMap { dispatcher.missingWorkers(for: awaited($0)) }
    }

    /// Whether that job is a transfer that waits because transfers are suspended.
    func waitsForResumption(_ place: Place) -> Bool {
        dispatcher.transfers.isSuspended
            && awaitedJob(at: place).map { dispatcher.isWaitingTransfer($0) } ?? false
    }

    private func awaitedJob(at place: Place) -> JobID? {
        switch place {
        case .original, .transcode: return nil
        case .lookup(let need): return lookups[need.node].job
        case .validity(let need): return validities[need.node].job
        case .overlays(let id): return awaitedOverlayJob(of: id)
        case .result(let need):
            return results[need.node].job
                ?? results[need.node].decode.flatMap { awaitedJob(of: $0) }
        }
    }

    /// The job that the first missing overlay waits for.
    private func awaitedOverlayJob(of id: Subscriber.ID) -> JobID? {
        let nodes = (gatherings[id]?.layers ?? []).compactMap { $0.decode?.node }
        guard let node = nodes.first(where: { decodes[$0].pixels == nil }) else { return nil }
        return awaitedJob(of: node)
    }

    /// The job that must finish before the pixels are available.
    private func awaitedJob(of decode: DecodeNode.ID) -> JobID? {
        decodes[decode].job ?? decodes[decode].source.flatMap { sources[$0].job }
    }

    /// Whether the subscriber waits for the data of the transfer.
    func isFed(_ place: Place, by transfer: Transfer) -> Bool {
        guard case .result(let need) = place else { return false }
        return results[need.node].source == transfer.source
    }

    /// Whether the subscriber waits for the data of the transfer and its result doesn't exist yet.
    func isFedOnly(_ place: Place, by transfer: Transfer) -> Bool {
        guard isFed(place, by: transfer), case .result(let need) = place else { return false }
        return !results[need.node].exists
    }
}
