import ImageModel
import Messages

/// Bytes that a client brought along, instead of a URL (DESIGN §4, what a client gets).
struct Upload: Sendable {
    let block: BlockHandle
    let reference: BlockReference
}

// A picture without a URL: its source is there before it is admitted.
extension Scheduler {
    /// The scheme of the names that uploads have instead of a URL, followed by the digest of the
    /// bytes; nothing can be fetched by such a name.
    public static let uploadScheme = "upload"

    /// The block is free again once the request, and all work that reads it, have ended.
    mutating func admitUpload(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms,
        _ reference: BlockReference
    ) {
        let checked: BlockReference
        do throws(ImageError) {
            checked = try ledger.check(reference, from: .coordinator, in: .stage)
        } catch {
            return answerAtOnce(load, of: client, .failure(error))
        }
        let block = ledger.take(checked, from: .coordinator)
        var load = load
        // Nobody can ask for it without bringing it along again.
        load.image.originalQueryCacheTypes = .none
        load.image.originalStoreCacheTypes = .none
        admit(load, of: client, terms, upload: Upload(block: block, reference: checked))
        drop(block)
    }

    /// The source of an upload has nothing to wait for.
    mutating func beginSource(
        _ name: Sourced<SourceKey>, of upload: Upload, _ order: Order
    ) -> SourceNode.ID {
        ledger.hold(upload.block)
        let node = sources.insert(SourceNode(name: name, order: order, upload: upload))
        sourceTable.insert(node, under: name.key)
        return node
    }
}
