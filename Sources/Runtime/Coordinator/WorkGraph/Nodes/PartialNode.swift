import Model

/// One partial image, made from the data received so far for the interested subscribers of a result
/// (SEMANTICS §2.11).
///
///     decoding ──pixels──► transforming ──bytes──► delivering ──► delivered
///
/// Nothing waits for it. An attempt that fails, finds no free worker, or is superseded by the
/// complete image ends silently, and the next data received gets another attempt. A result has at
/// most one at a time. Its job holds the blocks that it reads.
struct PartialNode: SlotMapElement {
    typealias ID = SlotID<PartialNode>

    /// The result whose subscribers receive the image.
    let result: ResultNode.ID
    let source: SourceNode.ID
    /// The progress report with the data from which the image is made.
    let progress: JobProgress
    /// The need passed to the decoder.
    let need: DecodeNeed
    /// When work began, and when the image was made from the pixels.
    let began: Instant
    var producedAt: Instant?
    var job: JobID?
    /// The image properties, once it is encoded.
    var info: ImageInfo?
}

/// Decides when a partial image of a source is worth producing (SEMANTICS §2.11).
///
/// A round produces a partial image for each interested result that finds a free worker. The next
/// round starts when all images of the last one have ended, enough more bytes have arrived, and
/// three times the duration of that round has passed. Partial images of one source thus occupy a
/// worker for at most a quarter of the time, and slow transfers need no more rounds than fast ones:
/// a few for each doubling of the received bytes.
struct PartialPace: Sendable {
    /// How a partial image ended.
    enum End: Sendable {
        /// It was delivered.
        case shown
        /// It failed, or nothing was visible yet.
        case fruitless
        /// It was no longer wanted, or other work needed its worker.
        case left
    }

    /// Bytes received at the last round.
    private var bytes: UInt64 = 0
    /// The number of images of the last round that are in progress.
    private(set) var underWay = 0
    /// Worker time used by the last round so far, in milliseconds.
    private var milliseconds = 0
    private var hasShown = false
    private var hasFailed = false
    /// Consecutive rounds without a visible image.
    private var fruitless = 0
    /// The earliest time of the next round.
    private var resumes = Instant(nanoseconds: 0)

    /// The received bytes must grow by at least this fraction and this number of bytes.
    private static let growthDivisor: UInt64 = 16
    private static let growthMin: UInt64 = 1_024
    /// Idle time per unit of work time.
    private static let restFactor = 3
    /// The minimum and maximum backoff in milliseconds, which doubles after each round without a
    /// visible image.
    private static let pauseMin = 50
    private static let pauseMax = 10_000
    private static let doublingsMax = 8

    /// Whether to start a round with this many bytes; `expected` is 0 if the total is unknown.
    func permits(_ arrived: UInt64, of expected: UInt64, at now: Instant) -> Bool {
        guard underWay == 0, now >= resumes, arrived > bytes else { return false }
        guard bytes > 0 else { return true }
        let grown = arrived - bytes
        return grown >= bytes / Self.growthDivisor
            && (grown >= Self.growthMin || arrived == expected)
    }

    /// Records the start of a partial image in a new or current round.
    mutating func begins(of arrived: UInt64) {
        if underWay == 0 { (milliseconds, hasShown, hasFailed) = (0, false, false) }
        bytes = arrived
        underWay += 1
    }

    /// Records the end of a partial image that used a worker for this many milliseconds.
    mutating func ended(_ end: End, after milliseconds: Int, at now: Instant) {
        underWay -= 1
        self.milliseconds += milliseconds
        hasShown = hasShown || end == .shown
        hasFailed = hasFailed || end == .fruitless
        guard underWay == 0 else { return }
        if hasShown { fruitless = 0 } else if hasFailed { fruitless += 1 }
        resumes = now.adding(milliseconds: pause)
    }

    private var pause: Int {
        let least = Self.restFactor * milliseconds
        guard fruitless > 0 else { return least }
        let doubled = max(least, Self.pauseMin) << min(fruitless, Self.doublingsMax)
        return max(least, min(doubled, Self.pauseMax))
    }
}

// Partial images from the data received so far, while the transfer continues (SEMANTICS §2.11).
extension WorkGraph {
    /// Handles received bytes. If a round is due, each interested result starts a partial image
    /// while a decoder is free. Results that have shown the fewest bytes go first.
    func lookAt(
        _ progress: JobProgress, _ block: BlockHandle, of node: SourceNode.ID
    ) {
        guard let arrived = progress.arrived, !sources[node].early.isGivenUp,
            sources[node].early.pace.permits(
                arrived.length, of: progress.isPreview ? arrived.length : progress.expected,
                at: now),
            dispatcher.isIdle(.decode)
        else { return }
        let eager = sources[node].consumers.members.flatMap { decodes[$0].results }
            .sorted { results[$0].partialBytes < results[$1].partialBytes }
        for result in eager {
            guard dispatcher.isIdle(.decode) else { return }
            beginPartial(of: result, progress, arrived, block, from: node)
        }
    }

    private func beginPartial(
        of result: ResultNode.ID, _ progress: JobProgress, _ arrived: BlockReference,
        _ block: BlockHandle, from node: SourceNode.ID
    ) {
        guard results[result].partial == nil,
            arrived.length > results[result].partialBytes,
            let need = need(of: result, progress, from: node)
        else { return }
        let key = results[result].name.key.decode
        let suspect = suspect(sources[node].key, need, in: block)
        guard !isSuspected(suspect, for: results[result].name) else { return }
        // A preview has different bytes and is not evidence against the image.
        let accused = progress.isPreview ? nil : suspect
        let work = DecodeWork(
            source: arrived, frame: key.frame, need: need, keeps: key.keeps,
            limits: limits.image.narrowed(by: key.limits), isPartial: !progress.isPreview)
        results[result].partialBytes = arrived.length
        sources[node].early.pace.begins(of: arrived.length)
        let partial = partials.insert(
            PartialNode(
                result: result, source: node, progress: progress, need: need, began: now))
        results[result].partial = partial
        partials[partial].job = submit(
            .decode(work), for: .partial(partial), reading: block, urgency(of: partial),
            suspect: accused)
    }

    /// Returns what to make of the bytes: pixels if they are wanted and can be shown, else the
    /// header until it is known. A preview is a complete image in any format; its header doesn't
    /// describe the final image.
    private func need(
        of result: ResultNode.ID, _ progress: JobProgress, from node: SourceNode.ID
    ) -> DecodeNeed? {
        let interests = results[result].consumers.members.reduce(into: Subscriber.Interests()) {
            $0.formUnion($1.interests)
        }
        if interests.contains(.partials), results[result].name.key.isOurs,
            progress.isPreview || dispatcher.mayShowPartially(progress.format)
        {
            let need = results[result].name.key.decode.need
            return need == .header ? .full : need
        }
        let isNew = !progress.isPreview && sources[node].early.info == nil
        return isNew && !interests.isDisjoint(with: .early) ? .header : nil
    }

    /// Class low, so that the work comes after everything that a reply waits for.
    private func urgency(of partial: PartialNode.ID) -> Urgency {
        let wanted = results[partials[partial].result].consumers.urgency
        return Urgency(priority: .low, deadline: wanted.deadline, flows: wanted.flows)
    }

    // MARK: - Outcomes

    func continuePartial(
        _ partial: PartialNode.ID, _ job: Completion.Ended, _ result: JobResult,
        _ blocks: ShortList<BlockHandle>
    ) {
        switch result {
        case .decoded(let image):
            encode(partial, image, blocks)
        case .transformed(let image):
            if let block = blocks.first { deliver(partial, image, block) }
        case .stored(let report):
            notifyPartial(partial, report, job)
            endPartial(partial, .shown)
        default: endPartial(partial, .fruitless)
        }
        // A subsequent job holds the blocks that it reads.
        dispatcher.drop(blocks)
    }

    private func encode(
        _ partial: PartialNode.ID, _ image: DecodedImage, _ blocks: ShortList<BlockHandle>
    ) {
        let node = partials[partial]
        if !node.progress.isPreview, sources[node.source].early.learn(image.info) {
            notifyProgress(node.progress, of: node.source)
        }
        guard let frame = image.frames.first, let block = blocks.first else {
            return endPartial(partial, node.need == .header ? .shown : .fruitless)
        }
        guard dispatcher.isIdle(.transform) else { return endPartial(partial) }
        let overlays = overlays(of: node.result)
        let info = node.need.info(ofPixels: image.info)
        let work = transformWork(of: node.result, frame, info, over: overlays)
        guard work.refusal(atMost: limits.encodingCostMax) == nil else {
            return endPartial(partial, .fruitless)
        }
        partials[partial].job = submit(
            .transform(work), for: .partial(partial), reading: block,
            beside: overlays.map(\.block), urgency(of: partial),
            suspect: .transform(results[node.result].name.key))
    }

    private func deliver(
        _ partial: PartialNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        partials[partial].info = image.info
        partials[partial].producedAt = now
        let work = StoreWork(
            key: nil, source: image.reference, tiers: .none, delivers: true, waitsForDisk: false,
            metadata: StoredMetadata(info: image.info))
        partials[partial].job = submit(
            .store(work), for: .partial(partial), reading: block, urgency(of: partial),
            maker: .transform(results[partials[partial].result].name.key))
    }

    private func notifyPartial(
        _ partial: PartialNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        let node = partials[partial]
        guard let reference = report.delivered, let cache = job.worker, let info = node.info
        else { return }
        emit(.noticed(reference, cache))
        var image = DeliveredImage(
            reference: reference, info: info, cacheType: .none,
            key: CacheKey.key(inStored: results[node.result].text))
        image.digest = report.digest
        let block = BlockHandle(worker: cache, block: reference.block)
        let bytes = node.progress.arrived?.length ?? 0
        shared.counters.partials += 1
        emit(results[node.result].consumers.members.filter { $0.interests.contains(.partials) }) {
            .partial(Transfer(source: node.source), image, block, bytes, $0)
        }
    }
}

// Ending partial images.
extension WorkGraph {
    /// Ends a partial image and abandons its job.
    func endPartial(_ partial: PartialNode.ID, _ end: PartialPace.End = .left) {
        guard let node = partials.remove(partial) else { return }
        if sources.contains(node.source) {
            let took = (node.producedAt ?? now).milliseconds(since: node.began)
            sources[node.source].early.pace.ended(end, after: took, at: now)
        }
        if results.contains(node.result) { results[node.result].partial = nil }
        if let job = node.job { abandon(job) }
    }

    /// Handles a failed job. After a timeout no further attempt is made, because the same data
    /// would hang again.
    func partialFailed(_ partial: PartialNode.ID, _ error: ImageError) {
        if error.code == .deadlineExceeded { return giveUpPartials(of: partials[partial].source) }
        endPartial(partial, error.code == .cancelled ? .left : .fruitless)
    }

    /// Handles a crash with a partial image: the source gets no more of them.
    func giveUpPartials(after departure: Departure) {
        guard let job = dispatcher.crashed(departure), case .partial(let partial) = purposes[job]
        else { return }
        giveUpPartials(of: partials[partial].source)
    }

    private func giveUpPartials(of node: SourceNode.ID) {
        sources[node].early.isGivenUp = true
        endPartials(of: node)
    }

    /// Ends all partial images after the transfer has finished, because the complete image
    /// supersedes them.
    func endPartials(of node: SourceNode.ID) {
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                if let partial = results[result].partial { endPartial(partial) }
            }
        }
    }
}

// Transfer progress for subscribers.
extension WorkGraph {
    /// Reports progress, and the image header if it is known, to the source's interested
    /// subscribers.
    func notifyProgress(_ progress: JobProgress, of node: SourceNode.ID) {
        let info = sources[node].early.info
        let recipients = subscribers(of: node).filter {
            !$0.interests.isDisjoint(with: [.progress, .info])
        }
        emit(recipients) { .progressed(Transfer(source: node), progress, info, $0) }
    }
}
