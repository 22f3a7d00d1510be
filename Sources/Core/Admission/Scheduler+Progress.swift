import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// What requests are told while bytes arrive: how far their transfer is, what its header says, and
// images of what has come so far (SEMANTICS §2.11).
extension Scheduler {
    /// Tells requests how far the transfer is that they wait for, where they asked to be told.
    mutating func progressed(
        _ transfer: Transfer, _ progress: JobProgress, _ info: ImageInfo?,
        _ ids: [LiveRequest.ID]
    ) {
        // Where some are still to be told of earlier progress, the next one is as good, unless it
        // says more.
        guard !agenda.isTelling(transfer, info) else { return }
        agenda.append(BulkWork(.progress(transfer, progress, info), ids))
    }

    /// Tells one request. A transfer that begins again goes back to no earlier figure for a
    /// request that was told a later one.
    mutating func tellProgress(
        _ id: LiveRequest.ID, _ progress: JobProgress, _ info: ImageInfo?, of transfer: Transfer
    ) {
        guard case .waiting(let place) = requests[id].standing,
            deriver.isFed(place, by: transfer), requests[id].received <= progress.received,
            !isForsaken(id)
        else { return }
        requests[id].received = progress.received
        let told = RequestProgress(
            token: requests[id].token, received: progress.received, expected: progress.expected,
            info: requests[id].facts.wishes.contains(.info) ? info : nil)
        actions.append(.progress(requests[id].client, told))
    }

    // MARK: - Partial images

    /// Shows requests an image of so many bytes. The block is held until the last of them has it.
    mutating func offer(
        _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64, from transfer: Transfer,
        to ids: [LiveRequest.ID]
    ) {
        guard !ids.isEmpty else { return }
        hits.hold(block)
        agenda.append(BulkWork(.partial(transfer, image, bytes), ids, block: block))
    }

    /// Shows it to one request, unless its whole image exists by now. Who was shown more before
    /// waits for more again, where the transfer began anew.
    mutating func showPartial(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64,
        from transfer: Transfer
    ) {
        guard case .waiting(let place) = requests[id].standing,
            deriver.isFedOnly(place, by: transfer), !isForsaken(id), requests[id].shown < bytes,
            deriver.dispatcher.contains(block.worker)
        else { return }
        requests[id].shown = bytes
        show(id, image, block, isRefreshing: false, arrivedBytes: bytes)
    }
}
