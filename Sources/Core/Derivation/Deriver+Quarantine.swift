import Dispatching
import ImageModel
import Messages

// Work that is not tried, since it killed workers (SEMANTICS §7.5).
extension Deriver {
    /// Whether making the result would need such work.
    func isPoisoned(_ name: ResultName) -> Bool {
        isPoisoned(name.decode) || dispatcher.isQuarantined(.transform(name.key))
    }

    /// The same of pixels.
    func isPoisoned(_ name: Sourced<DecodeKey>) -> Bool {
        let source = name.key.source
        if dispatcher.isQuarantined(.decode(source)) { return true }
        if dispatcher.isQuarantined(.drawing(source, name.key.need)) { return true }
        return name.origin.isFetched && dispatcher.isQuarantined(.fetch(source))
    }

    /// Whether a partial image is left, since such work on the bytes or for the result has killed a
    /// worker: the whole image is enough to find out whether it does so again.
    func isSuspected(_ suspect: Suspect, for name: ResultName) -> Bool {
        dispatcher.isSuspected(suspect) || dispatcher.isSuspected(.transform(name.key))
    }

    /// What is suspected where a decode of a source's bytes kills workers.
    func suspect(
        _ node: SourceNode.ID, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let name = sources[node].name
        if case .cache(let query) = name.origin,
            dispatcher.isForeignCache(block.worker) || layout.mayHavePromoted(query.key)
        {
            return .kept(name.key, text: query.key)
        }
        return suspect(name.key, need, in: block)
    }

    /// The same of bytes that are the source's own.
    func suspect(
        _ source: SourceKey, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let format = dispatcher.format(of: block)
        return format?.traits.isDrawn == true ? .drawing(source, need) : .decode(source)
    }
}
