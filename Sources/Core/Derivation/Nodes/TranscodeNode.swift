import Dispatching
package import ImageModel
import Messages
import Tables

/// Another encoding of a result or of an original, made for the tiers that keep it
/// (SEMANTICS §5.8).
///
///     decoding ──pixels──► encoding ──bytes──► storing ──► gone
///
/// The encoding of a result begins with `encoding`, out of the pixels that the result was made of.
struct TranscodeNode: Tabled {
    typealias ID = SlotID<TranscodeNode>

    /// Where it goes.
    struct Entry: Sendable {
        /// The text of the key, and the tiers that are to have it under that.
        let text: String
        let tiers: CacheTypes
        /// What is kept beside the bytes, but for what they are.
        let metadata: StoredMetadata
    }

    /// What it is made of.
    struct Material: Sendable {
        /// The source of the bytes, their plain text, and whether a refresh looked for them.
        let key: SourceKey
        let plainText: String
        let isRevalidation: Bool
        /// When the transfer of these bytes began, where there was one.
        let began: TransferSerial?
        let source: SourceNode.ID?
    }

    let entry: Entry
    let material: Material
    /// What is done to the pixels, and how they are encoded.
    let steps: [TransformStep]
    let output: OutputOptions
    /// The limits that the configuration sets.
    let limits: LimitSettings
    /// Whether what tiers have under that text is known to be outdated.
    var replaces: Bool
    /// The result whose waiters may ask what became of it.
    let result: ResultNode.ID?
    /// Whether the source stays until it is stored, since these are its bytes.
    let keepsSource: Bool
    let urgency: Urgency
    let logContext: LogContext
    /// What its job reads; the job holds it.
    var input: BlockHandle
    /// What is laid over it, until it was; its job holds that, too.
    var overlays: [DecodeNode.Pixels] = []
    var job = JobID(0)
    /// The watchers that wait for its store.
    var watchers = WatcherList()

    /// Whether its job reads what that worker made.
    func reads(from worker: WorkerID) -> Bool {
        input.worker == worker || overlays.contains { $0.block.worker == worker }
    }
}

// What a serializer makes of a result or of an original, on its way to the disk: work that no reply
// waits for, unless it was asked to (SEMANTICS §5.8).
extension Deriver {
    /// An original that is to be kept in another encoding, under a plain text; `false` where it is
    /// not.
    mutating func transcodeOriginal(
        _ node: SourceNode.ID, _ policy: StorePolicy, as plain: String
    ) -> Bool {
        let source = sources[node]
        guard let output = policy.output, let body = source.body, let info = source.info else {
            return false
        }
        let transcode = decodeAgain(
            body.block, body.reference,
            TranscodeNode(
                entry: .init(
                    text: source.text(of: plain), tiers: policy.tiers,
                    metadata: source.metadata(info, tags: policy.tags)),
                material: .init(
                    key: source.name.key, plainText: plain,
                    isRevalidation: source.name.origin.isRevalidation,
                    began: source.freshness.began, source: node),
                steps: [], output: output, limits: source.limits, replaces: source.isReplacing,
                result: nil,
                keepsSource: true, urgency: source.consumers.urgency.unbounded,
                logContext: source.logContext, input: body.block))
        if transcode == nil, source.isReplacing, !isTranscoding(node, as: plain) {
            removeOutdated(source.text(of: plain), exceptIn: policy.plainTiers)
        }
        return transcode != nil
    }

    /// Whether an original is being kept in another encoding under that text.
    func isTranscoding(_ node: SourceNode.ID, as plain: String) -> Bool {
        sources[node].storing.transcodes > 0
            && transcodes.ids.contains {
                transcodes[$0].keepsSource && transcodes[$0].material.source == node
                    && transcodes[$0].material.plainText == plain
            }
    }

    /// The same of a result that is the original, or of whose steps workers of somebody else did
    /// some: these are not asked a second time.
    mutating func transcodeBody(of node: ResultNode.ID, _ product: ResultNode.Product) {
        let policy = results[node].keptPolicy
        let source = results[node].isOriginal ? results[node].source : nil
        guard let output = policy.output, results[node].transcode == nil,
            results[node].transcoded.isEmpty, (source != nil) == results[node].isOriginal,
            dispatcher.isDecoded(product.metadata.info.format)
        else { return }
        results[node].transcode = decodeAgain(
            product.block, product.reference,
            transcode(
                of: node, policy, output, product.metadata, source, steps: [],
                reading: product.block))
    }

    /// A result that is to be kept in another encoding is encoded a second time out of the same
    /// pixels: nothing is lost between, and nothing that a transformer made waits for one.
    mutating func transcodePixels(of node: ResultNode.ID, _ metadata: StoredMetadata) {
        let policy = results[node].keptPolicy
        guard let output = policy.output, let decode = results[node].decode,
            let pixels = decodes[decode].pixels
        else { return }
        var transcode = transcode(
            of: node, policy, output, metadata, nil, steps: results[node].name.key.steps,
            reading: pixels.block)
        transcode.overlays = overlays(of: node)
        guard let id = begin(transcode, metadata) else { return }
        results[node].transcode = id
        encode(id, pixels.frame, pixels.info, reading: pixels.block)
    }

    private func transcode(
        of node: ResultNode.ID, _ policy: StorePolicy, _ output: OutputOptions,
        _ metadata: StoredMetadata, _ kept: SourceNode.ID?, steps: [TransformStep],
        reading block: BlockHandle
    ) -> TranscodeNode {
        let result = results[node]
        return TranscodeNode(
            entry: .init(text: result.text, tiers: policy.tiers, metadata: metadata),
            material: .init(
                key: result.name.key.decode.source, plainText: result.order.names.plainResult,
                isRevalidation: result.name.origin.isRevalidation,
                began: result.provenance.began, source: result.source),
            steps: steps, output: output,
            limits: result.name.key.decode.limits,
            replaces: result.name.origin.isRevalidation, result: node, keepsSource: kept != nil,
            urgency: result.consumers.urgency.unbounded, logContext: result.order.logContext,
            input: block)
    }

    // MARK: - Its jobs

    /// `nil` where it is not made, and nothing goes to the disk: too many are under way, or the
    /// work killed workers, or one frame of an animation would be left. Memory takes the bytes as
    /// they are then.
    private mutating func begin(_ transcode: TranscodeNode, _ metadata: StoredMetadata)
        -> TranscodeNode.ID?
    {
        guard transcodes.count < limits.transcodesMax, metadata.info.pages == 1,
            !dispatcher.isQuarantined(.decode(transcode.material.key)),
            !dispatcher.isQuarantined(.drawing(transcode.material.key, .full)),
            !dispatcher.isQuarantined(.transcode(transcode.material.key, transcode.output))
        else { return nil }
        if transcode.keepsSource, let source = transcode.material.source {
            sources[source].storing.beganTranscode()
        }
        return transcodes.insert(transcode)
    }

    private mutating func decodeAgain(
        _ block: BlockHandle, _ reference: BlockReference, _ transcode: TranscodeNode
    ) -> TranscodeNode.ID? {
        guard let id = begin(transcode, transcode.entry.metadata) else { return nil }
        let work = DecodeWork(
            source: reference, need: .full, limits: limits.image.narrowed(by: transcode.limits))
        transcodes[id].job = submit(
            .decode(work), for: .transcode(id), reading: block, transcode.urgency,
            suspect: suspect(transcode.material.key, .full, in: block))
        return id
    }

    /// The pixels are there.
    mutating func encode(
        _ id: TranscodeNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        reading block: BlockHandle
    ) {
        let transcode = transcodes[id]
        let work = TransformWork(
            frame, info, transcode.steps, over: transcode.overlays, transcode.output,
            limits.image.narrowed(by: transcode.limits)
        ).accepting(atMost: limits.encodingCostMax)
        if work.refusal(atMost: limits.encodingCostMax) != nil { return endTranscode(id) }
        transcodes[id].input = block
        transcodes[id].job = submit(
            .transform(work), for: .transcode(id), reading: block,
            beside: transcode.overlays.map(\.block), transcode.urgency,
            suspect: .transcode(transcode.material.key, transcode.output))
    }

    /// The bytes are there.
    mutating func store(
        _ id: TranscodeNode.ID, _ image: EncodedImage, reading block: BlockHandle
    ) {
        let transcode = transcodes[id]
        guard dispatcher.hasRoom(.cache) else { return endTranscode(id) }
        var metadata = transcode.entry.metadata
        metadata.info = image.info
        metadata.info.stillOf = transcode.entry.metadata.info.stillOf
        metadata.contentType = nil
        let work = StoreWork(
            key: transcode.entry.text, source: image.reference, tiers: transcode.entry.tiers,
            delivers: false, waitsForDisk: true, metadata: metadata)
        transcodes[id].input = block
        transcodes[id].overlays = []
        transcodes[id].job = submit(
            .store(work), for: .transcode(id), reading: block, transcode.urgency,
            maker: .transcode(transcode.material.key, transcode.output))
    }
}

// The end of what a serializer makes.
extension Deriver {
    /// Drops one that is under way.
    mutating func endTranscode(_ id: TranscodeNode.ID) {
        if let source = endTranscode(id, storing: .none) { tidy(source) }
    }

    /// Drops all that are on their way to those tiers under that text.
    package mutating func endTranscodes(of text: String, for tiers: CacheTypes) {
        endTranscodes { $0.entry.text == text && !$0.entry.tiers.isDisjoint(with: tiers) }
    }

    /// Drops all that are meant.
    mutating func endTranscodes(where isMeant: (TranscodeNode) -> Bool) {
        for id in transcodes.ids where transcodes.contains(id) && isMeant(transcodes[id]) {
            endTranscode(id)
        }
    }

    /// It was stored in these tiers, or in none, where the store failed. Then an outdated entry
    /// under its key is removed. Its waiters are answered. Returns the source of its bytes, which
    /// may have stayed for this alone.
    mutating func endTranscode(_ id: TranscodeNode.ID, storing tiers: CacheTypes)
        -> SourceNode.ID?
    {
        guard let transcode = transcodes.remove(id) else { return nil }
        abandon(transcode.job)
        if transcode.replaces { removeOutdated(transcode.entry.text, exceptIn: tiers) }
        if !tiers.isEmpty {
            overtakeQueries(of: transcode.entry.text, transcode.material.key)
            if transcode.material.isRevalidation { outdateQueries(of: transcode.entry.text) }
        }
        if let result = transcode.result, results.contains(result) {
            results[result].transcode = nil
            results[result].transcoded = tiers
        }
        let source = transcode.keepsSource ? transcode.material.source : nil
        if let source {
            sources[source].storing.endedTranscode(tiers: tiers, as: transcode.material.plainText)
        }
        tellStored(transcode.watchers, in: tiers)
        return source
    }

    /// Each waiter is answered, or goes on to wait for the original.
    private mutating func tellStored(_ watchers: WatcherList, in tiers: CacheTypes) {
        for var watcher in watchers.members {
            watcher.stored.formUnion(tiers)
            if let place = awaitOriginal(watcher) {
                tell(.moved(watcher.id, place))
            } else {
                tell(.stored([Stored(id: watcher.id, tiers: watcher.stored)]))
            }
        }
    }
}
