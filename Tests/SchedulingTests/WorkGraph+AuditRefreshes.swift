import Model

@testable import Coordinator

// Invariants between refreshes of one image.
extension WorkGraph {
    func auditRefreshes(_ check: (Bool, String) -> Void) {
        for id in sources.ids {
            let source = sources[id]
            auditOrder(of: id, source, check)
            // Uploaded bytes have no origin to query.
            guard source.kept != nil, source.spec != nil else { continue }
            for decode in source.consumers.members
            where decodes[decode].name.origin.isRevalidation {
                check(decodes[decode].isClosed, "no refresh joins an answer that is there")
                let open = decodes[decode].results.filter { !results[$0].isClosed }
                check(open.isEmpty, "nor a result of it")
            }
        }
        for id in results.ids where results[id].provenance.isOutdated {
            check(results[id].isClosed, "nobody joins an outdated result")
            check(results[id].transcode == nil, "an outdated result is not encoded again")
            guard results[id].exists, let job = results[id].job,
                case .store(let work) = dispatcher.jobs[job]?.work
            else { continue }
            check(work.tiers.isEmpty && work.key == nil, "an outdated result is stored nowhere")
        }
    }

    /// Of all transfers that replace the original of one key, only the one that started last may be
    /// stored.
    private func auditOrder(
        of id: SourceNode.ID, _ source: SourceNode, _ check: (Bool, String) -> Void
    ) {
        if source.freshness.isOutdated {
            check(source.freshness.isClosed, "nobody joins an outdated source")
            check(source.storing.jobs.isEmpty && source.storing.transcodes == 0, "nor is it stored")
        }
        guard source.isReplacing else { return }
        for other in sources.all(under: source.key) where other != id {
            check(!sources[other].isReplacing, "one source replaces the original")
        }
    }
}
