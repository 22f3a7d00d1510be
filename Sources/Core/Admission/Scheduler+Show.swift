import Dispatching
import ImageModel
import Messages
import Tables

// Images that clients get, before the terminal reply and with it.
extension Scheduler {
    /// A large result is kept for the client until it releases it, as far as limits allow. Beyond
    /// them, the client is told to copy.
    mutating func lend(_ image: inout DeliveredImage, _ block: BlockHandle, to client: ClientID) {
        guard let reference = image.reference, ResultBlocks.isLarge(reference),
            clients[client] != nil
        else { return }
        image.mustCopy = !hits.lend(block, reference.length, to: client)
    }

    /// An image before the terminal reply.
    mutating func show(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?, isRefreshing: Bool,
        arrivedBytes: UInt64? = nil
    ) {
        let request = requests[id]
        var image = image
        image.scaleFactor = request.scaleFactor
        if let block { lend(&image, block, to: request.client) }
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.facts.admittedAt)
        actions.append(
            .reply(
                request.client,
                Reply(
                    token: request.token, outcome: .image(image), timings: timings,
                    isRefreshing: isRefreshing, arrivedBytes: arrivedBytes)))
    }
}
