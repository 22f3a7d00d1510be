import Dispatching
import ImageModel
import Messages
import Tables

// Partial images that are not made any more.
extension Deriver {
    /// It is over, and its job is of no use.
    mutating func endPartial(_ partial: PartialNode.ID, _ end: PartialPace.End = .left) {
        guard let node = partials.remove(partial) else { return }
        if sources.contains(node.source) {
            let took = (node.made ?? now).milliseconds(since: node.began)
            sources[node.source].early.pace.ended(end, after: took, at: now)
        }
        if results.contains(node.result) { results[node.result].partial = nil }
        if let job = node.job { abandon(job) }
    }

    /// Its job is over without a result. Who hung once with what has arrived will do so again.
    mutating func partialFailed(_ partial: PartialNode.ID, _ error: ImageError) {
        if error.code == .deadlineExceeded { return giveUpPartials(of: partials[partial].source) }
        endPartial(partial, error.code == .cancelled ? .left : .fruitless)
    }

    /// A worker crashed with a partial image: no more are made of what has arrived of that source.
    mutating func giveUpPartials(after departure: Departure) {
        guard let job = dispatcher.crashed(departure), case .partial(let partial) = purposes[job]
        else { return }
        giveUpPartials(of: partials[partial].source)
    }

    private mutating func giveUpPartials(of node: SourceNode.ID) {
        sources[node].early.isGivenUp = true
        endPartials(of: node)
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
