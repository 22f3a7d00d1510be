import Dispatching
import ImageModel
import Messages
import Tables

// Which work refreshes take part in, and until when others join it.
extension Deriver {
    /// Whether somebody waits for the source who has an image already.
    func isRefresh(_ node: SourceNode.ID) -> Bool {
        sources[node].consumers.contains { decodes[$0].name.origin.isRevalidation }
    }

    /// Whether a refresh has a part in the source, or had.
    func isRefreshed(_ node: SourceNode.ID) -> Bool {
        sources[node].name.origin.isRevalidation || sources[node].freshness.isChanged
            || isRefresh(node)
    }

    /// A body came: who refreshes from now on asks the origin anew.
    mutating func closeRefreshes(at node: SourceNode.ID) {
        for decode in sources[node].consumers.members
        where decodes[decode].name.origin.isRevalidation {
            decodes.close(decode)
            for result in decodes[decode].results { results.close(result) }
        }
    }
}
