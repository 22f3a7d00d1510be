import Dispatching
import ImageModel
import Messages
import Tables

// Which work belongs to refreshes, and until when it may be joined.
extension Deriver {
    /// Whether a waiter of the source has an image already.
    func isRefresh(_ node: SourceNode.ID) -> Bool {
        sources[node].consumers.contains { decodes[$0].name.origin.isRevalidation }
    }

    /// Whether a refresh has a part in the source, or had.
    func isRefreshed(_ node: SourceNode.ID) -> Bool {
        sources[node].name.origin.isRevalidation || sources[node].freshness.isChanged
            || isRefresh(node)
    }

    /// A body came. A refresh that begins from now on asks the origin anew.
    mutating func closeRefreshes(at node: SourceNode.ID) {
        for decode in sources[node].consumers.members
        where decodes[decode].name.origin.isRevalidation {
            decodes.close(decode)
            for result in decodes[decode].results { results.close(result) }
        }
    }
}
