import Model

/// A serialization: another encoding of a result or original for the tiers that store it
/// (SEMANTICS §5.8).
///
///     decoding ──pixels──► encoding ──bytes──► storing ──► gone
///
/// The serialization of a result starts with `encoding`, from the pixels from which the result was
/// made.
struct TranscodeNode: SlotMapElement {
    typealias ID = SlotID<TranscodeNode>

    /// The text of the key, and the tiers to store it in.
    let text: String
    let tiers: CacheTypes
    /// The metadata stored with the bytes, except for the image properties.
    let metadata: StoredMetadata
    /// The source of the bytes, its plain text, and whether a refresh fetched it.
    let key: SourceKey
    let plainText: String
    let isRevalidation: Bool
    /// When the transfer of the bytes began, if there was one.
    let began: TransferSerial?
    let source: SourceNode.ID?
    /// The steps to apply to the pixels, and the encoding.
    let steps: [TransformStep]
    let output: OutputOptions
    /// The configured limits.
    let limits: LimitSettings
    /// Whether the existing entries under the text are known to be outdated.
    var replaces: Bool
    /// The result whose subscribers may wait for the store.
    let result: ResultNode.ID?
    /// Whether the source must stay until the store has finished, because these are its bytes.
    let keepsSource: Bool
    let urgency: Urgency
    let logContext: LogContext
    /// The block that the job reads; the job holds it.
    var input: BlockHandle
    /// The overlays, until they are applied; the job holds them too.
    var overlays: [DecodeNode.Pixels] = []
    var job = JobID(0)
    var watchers = WatcherList()

    /// Whether the job reads blocks that the worker produced.
    func reads(from worker: WorkerID) -> Bool {
        input.worker == worker || overlays.contains { $0.block.worker == worker }
    }
}

// Serializations of results and originals on their way to disk. No reply waits for them unless
// requested (SEMANTICS §5.8).
extension WorkGraph {
    /// Starts the serialization of an original under a plain text. Returns `false` if there is
    /// none.
    func transcodeOriginal(
        _ node: SourceNode.ID, _ policy: StorePolicy, as plain: String
    ) -> Bool {
        // Usually nothing is encoded, and the node isn't copied.
        guard let output = policy.output, let body = sources[node].body,
            let info = sources[node].info
        else { return false }
        let source = sources[node]
        let transcode = decodeAgain(
            body.block, body.reference,
            TranscodeNode(
                text: source.text(of: plain), tiers: policy.tiers,
                metadata: source.metadata(info, tags: policy.tags), key: source.key,
                plainText: plain, isRevalidation: source.origin.isRevalidation,
                began: source.freshness.began, source: node, steps: [], output: output,
                limits: source.limits, replaces: source.isReplacing, result: nil,
                keepsSource: true, urgency: source.consumers.urgency.unbounded,
                logContext: source.logContext, input: body.block))
        if transcode == nil, source.isReplacing, !isTranscoding(node, as: plain) {
            removeOutdated(source.text(of: plain), exceptIn: policy.plainTiers)
        }
        return transcode != nil
    }

    /// Whether the original is being serialized under this text.
    func isTranscoding(_ node: SourceNode.ID, as plain: String) -> Bool {
        sources[node].storing.transcodes > 0
            && transcodes.ids.contains {
                transcodes[$0].keepsSource && transcodes[$0].source == node
                    && transcodes[$0].plainText == plain
            }
    }

    /// Starts the serialization of a result that is the original or whose steps were partly run by
    /// external workers, which are not invoked a second time.
    func transcodeBody(of node: ResultNode.ID, _ product: ResultNode.Product) {
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

    /// Starts the serialization of a result by encoding the same pixels again: no quality is lost,
    /// and no transformer output waits for another transformer.
    func transcodePixels(of node: ResultNode.ID, _ metadata: StoredMetadata) {
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
            text: result.text, tiers: policy.tiers, metadata: metadata,
            key: result.name.key.decode.source, plainText: result.request.names.plainResult,
            isRevalidation: result.name.origin.isRevalidation, began: result.provenance.began,
            source: result.source, steps: steps, output: output,
            limits: result.name.key.decode.limits, replaces: result.name.origin.isRevalidation,
            result: node, keepsSource: kept != nil, urgency: result.consumers.urgency.unbounded,
            logContext: result.request.logContext, input: block)
    }

    // MARK: - Jobs

    /// Returns `nil`, so that nothing is written to disk, if too many serializations are in
    /// progress, the work is quarantined, or the image is an animation of which only one frame
    /// would be left. Memory then takes the bytes as they are.
    private func begin(_ transcode: TranscodeNode, _ metadata: StoredMetadata)
        -> TranscodeNode.ID?
    {
        guard transcodes.count < limits.transcodesMax, metadata.info.pages == 1,
            !dispatcher.isQuarantined(.decode(transcode.key)),
            !dispatcher.isQuarantined(.drawing(transcode.key, .full)),
            !dispatcher.isQuarantined(.transcode(transcode.key, transcode.output))
        else { return nil }
        if transcode.keepsSource, let source = transcode.source {
            sources[source].storing.transcodes += 1
        }
        return transcodes.insert(transcode)
    }

    private func decodeAgain(
        _ block: BlockHandle, _ reference: BlockReference, _ transcode: TranscodeNode
    ) -> TranscodeNode.ID? {
        guard let id = begin(transcode, transcode.metadata) else { return nil }
        let work = DecodeWork(
            source: reference, need: .full, limits: limits.image.narrowed(by: transcode.limits))
        transcodes[id].job = submit(
            .decode(work), for: .transcode(id), reading: block, transcode.urgency,
            suspect: suspect(transcode.key, .full, in: block))
        return id
    }

    /// Submits the encode once the pixels are available.
    func encode(
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
            suspect: .transcode(transcode.key, transcode.output))
    }

    /// Submits the store once the bytes are available.
    func store(
        _ id: TranscodeNode.ID, _ image: EncodedImage, reading block: BlockHandle
    ) {
        let transcode = transcodes[id]
        guard dispatcher.hasRoom(.cache) else { return endTranscode(id) }
        var metadata = transcode.metadata
        metadata.info = image.info
        metadata.info.stillOf = transcode.metadata.info.stillOf
        metadata.contentType = nil
        let work = StoreWork(
            key: transcode.text, source: image.reference, tiers: transcode.tiers,
            delivers: false, waitsForDisk: true, metadata: metadata)
        transcodes[id].input = block
        transcodes[id].overlays = []
        transcodes[id].job = submit(
            .store(work), for: .transcode(id), reading: block, transcode.urgency,
            maker: .transcode(transcode.key, transcode.output))
    }
}

// Ending serializations.
extension WorkGraph {
    /// Drops a serialization in progress.
    func endTranscode(_ id: TranscodeNode.ID) {
        if let source = endTranscode(id, storing: .none) { tidy(source) }
    }

    /// Drops all serializations for these tiers under this text.
    func endTranscodes(of text: String, for tiers: CacheTypes) {
        endTranscodes { $0.text == text && !$0.tiers.isDisjoint(with: tiers) }
    }

    /// Drops all serializations that match the predicate.
    func endTranscodes(where isMeant: (TranscodeNode) -> Bool) {
        for id in transcodes.ids where transcodes.contains(id) && isMeant(transcodes[id]) {
            endTranscode(id)
        }
    }

    /// Ends a serialization that was stored in these tiers, or in none if the store failed. In that
    /// case, an outdated entry under its key is removed. Answers its watchers. Returns the source
    /// of its bytes if the source may now be unneeded.
    func endTranscode(_ id: TranscodeNode.ID, storing tiers: CacheTypes)
        -> SourceNode.ID?
    {
        guard let transcode = transcodes.remove(id) else { return nil }
        abandon(transcode.job)
        if transcode.replaces { removeOutdated(transcode.text, exceptIn: tiers) }
        if !tiers.isEmpty {
            overtakeQueries(of: transcode.text, transcode.key)
            if transcode.isRevalidation { outdateQueries(of: transcode.text) }
        }
        if let result = transcode.result, results.contains(result) {
            results[result].transcode = nil
            results[result].transcoded = tiers
        }
        let source = transcode.keepsSource ? transcode.source : nil
        if let source {
            sources[source].storing.transcodes -= 1
            sources[source].storing.originals.ended(tiers, transcode.plainText)
        }
        notifyStored(transcode.watchers, in: tiers)
        return source
    }

    /// Answers the watchers, or lets them wait for the store of the original.
    private func notifyStored(_ watchers: WatcherList, in tiers: CacheTypes) {
        for var watcher in watchers.members {
            watcher.stored.formUnion(tiers)
            if let place = awaitOriginal(watcher) {
                emit(.moved(watcher.id, place))
            } else {
                emit(.stored([Stored(id: watcher.id, tiers: watcher.stored)]))
            }
        }
    }
}
