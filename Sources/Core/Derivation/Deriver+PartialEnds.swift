import Dispatching
import Messages
import Tables

// Partial images that are not made any more.
extension Deriver {
    /// It is over, and its job is of no use.
    mutating func endPartial(_ partial: PartialNode.ID) {
        guard let node = partials.remove(partial) else { return }
        if results.contains(node.result) { results[node.result].partial = nil }
        if let job = node.job { abandon(job) }
    }

    /// All bytes are there: the whole image overtakes what was made of some.
    mutating func endPartials(of node: SourceNode.ID) {
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                if let partial = results[result].partial { endPartial(partial) }
            }
        }
    }
}
