import ImageModel
import Messages

// What whoever keeps a deny list of sources has to know.
extension Deriver {
    /// What was to be fetched failed, or is no image.
    mutating func tellFailed(_ node: SourceNode.ID, _ error: ImageError) {
        let orders = sources[node].consumers.members.flatMap { self.orders(of: $0) }
        if !orders.isEmpty { tell(.failedSource(sources[node].name.key, .header, error, orders)) }
    }

    /// What was fetched could not be decoded: that counts for all who wait for the source where it
    /// is no image.
    mutating func tellFailed(_ node: DecodeNode.ID, of source: SourceNode.ID, _ error: ImageError) {
        let operation = error.prevented(of: decodes[node].name.key.operation)
        guard operation != .header else { return tellFailed(source, error) }
        let orders = orders(of: node)
        if !orders.isEmpty {
            tell(.failedSource(sources[source].name.key, operation, error, orders))
        }
    }

    /// What was fetched is an image after all: that counts where somebody asked for another try.
    mutating func tellProven(_ node: DecodeNode.ID, _ source: SourceNode.ID) {
        guard sources[source].body?.fetched != nil else { return }
        let retries = orders(of: node).filter(\.image.mayFollowAFailure)
        guard !retries.isEmpty else { return }
        let operation = decodes[node].name.key.operation
        tell(.provenSource(sources[source].name.key, operation, retries))
    }

    /// The orders of all waiters of a decode, the loads of overlays included.
    private func orders(of node: DecodeNode.ID) -> [Order] {
        let orders = waiters(of: node).map(\.order)
        let overlays = decodes[node].overlays
        if overlays.isEmpty { return orders }
        return orders
            + overlays.compactMap { consumer in
                guard case .waiter(let id, let index) = consumer else { return nil }
                return gatherings[id]?.layers[index].order
            }
    }
}
