package import Dispatching
import ImageModel
package import Messages
import Tables

// A waiter leaves its place, or wants its image more or less urgently than before.
extension Deriver {
    /// A waiter leaves. Work that nobody else wants leaves the tables in the same step in which its
    /// worker is told, so that a newcomer gets new work.
    package mutating func leave(_ place: Place) {
        switch place.node {
        case .lookup(let need): detach(from: need)
        case .validity(let need): detach(from: need)
        case .overlays(let id): leaveOverlays(id)
        case .result(let need):
            detach(from: need)
            // Once the result exists, a cancel changes the reply and no longer the store.
            if results.contains(need.node), results[need.node].consumers.isEmpty {
                waitsForSpace(need.node, false)
            }
        case .original(let node, let seat): sources[node].storing.watchers.leave(seat)
        case .transcode(let node, let seat): transcodes[node].watchers.leave(seat)
        }
    }

    /// Work that is shared with others runs in the highest class among them.
    package mutating func reprioritise(_ place: Place, _ urgency: Urgency) {
        switch place.node {
        case .lookup(let need): update(need, urgency)
        case .validity(let need): update(need, urgency)
        case .overlays(let id): reprioritiseOverlays(of: id, urgency)
        case .result(let need): update(need, urgency)
        // A store goes on in the class that it was begun in; it holds up only this reply.
        case .original, .transcode: break
        }
    }

    /// Whether no worker has the job that has to end before a waiter gets on from there.
    package func waitsForWorker(_ place: Place) -> Bool {
        awaitedJob(at: place).map { dispatcher.isWaiting(awaited($0)) } ?? false
    }

    /// The pool that has to do that job, where no worker of it is connected.
    package func missingWorkers(at place: Place) -> MissingWorkers? {
        awaitedJob(at: place).flatMap { dispatcher.missingWorkers(for: awaited($0)) }
    }

    /// Whether that job is a transfer which does not begin since transfers are suspended.
    package func waitsForResumption(_ place: Place) -> Bool {
        dispatcher.transfers.isSuspended
            && awaitedJob(at: place).map { dispatcher.isWaitingTransfer($0) } ?? false
    }

    private func awaitedJob(at place: Place) -> JobID? {
        switch place.node {
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
    private func awaitedOverlayJob(of id: Waiter.ID) -> JobID? {
        let nodes = (gatherings[id]?.layers ?? []).compactMap { $0.decode?.node }
        guard let node = nodes.first(where: { decodes[$0].pixels == nil }) else { return nil }
        return awaitedJob(of: node)
    }

    /// The job that has to end before there are pixels.
    private func awaitedJob(of decode: DecodeNode.ID) -> JobID? {
        decodes[decode].job ?? decodes[decode].source.flatMap { sources[$0].job }
    }

    /// Whether somebody waits there for what the transfer brings.
    package func isFed(_ place: Place, by transfer: Transfer) -> Bool {
        guard case .result(let need) = place.node else { return false }
        return results[need.node].source == transfer.source
    }

    /// The same, where the result does not exist yet.
    package func isFedOnly(_ place: Place, by transfer: Transfer) -> Bool {
        guard isFed(place, by: transfer), case .result(let need) = place.node else { return false }
        return !results[need.node].exists
    }
}
