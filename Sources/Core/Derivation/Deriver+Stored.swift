import Dispatching
import ImageModel
import Messages
import Tables

// Stores of originals and of what serializers make.
extension Deriver {
    /// A store ended, well or not: `tiers` have the original now.
    mutating func originalStored(_ node: SourceNode.ID, _ job: JobID, tiers: CacheTypes) {
        let plain = sources[node].storing.ended(job, tiers: tiers)
        if let plain, !tiers.isEmpty {
            overtakeQueries(of: sources[node].text(of: plain), sources[node].name.key)
            if sources[node].isReplacing { outdateOthers(of: node) }
        }
        tidy(node)
    }

    /// One of the jobs of a serializer is done; the block that came of it is held for the next one.
    mutating func transcoded(
        _ id: TranscodeNode.ID, _ result: JobResult, _ blocks: ShortList<BlockHandle>
    ) {
        switch (result, blocks.first) {
        case (.decoded(let image), let block?):
            encode(id, image.frames[0], image.info, reading: block)
        case (.transformed(let image), let block?): store(id, image, reading: block)
        case (.stored(let report), _): transcodeStored(id, in: report.tiers)
        default: preconditionFailure("outcomes were checked against their jobs")
        }
        dispatcher.drop(blocks)
    }

    /// What a serializer made is in those tiers.
    private mutating func transcodeStored(_ id: TranscodeNode.ID, in tiers: CacheTypes) {
        guard let source = endTranscode(id, storing: tiers) else { return }
        if !tiers.isEmpty, sources[source].isReplacing { outdateOthers(of: source) }
        tidy(source)
    }
}
