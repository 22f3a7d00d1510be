import Dispatching
import ImageModel
import Messages
import Tables

/// One image of the bytes that have arrived so far, for those waiters of a result that want such
/// (SEMANTICS §2.11).
///
///     decoding ──pixels──► transforming ──bytes──► delivering ──► told
///
/// Nobody waits for it. What fails, finds no free worker, or is overtaken by the whole image ends
/// without a word, and the next bytes that arrive are looked at in its place. A result has one at a
/// time. Its job holds the blocks that it reads.
struct PartialNode: Tabled {
    typealias ID = SlotID<PartialNode>

    /// Whose waiters get it.
    let result: ResultNode.ID
    let source: SourceNode.ID
    /// Of what it is made.
    let progress: JobProgress
    /// What is asked of the decoder.
    let need: DecodeNeed
    /// When it was begun, and when its image was made of the pixels.
    let began: Instant
    var made: Instant?
    /// The job that is being done for it.
    var job: JobID?
    /// What it is, once it is encoded.
    var info: ImageInfo?
}

/// When another look at what has arrived of a source is worth its work (SEMANTICS §2.11).
///
/// A look makes a partial image for each result that wants one and finds a free worker. The next
/// one comes when all of those have ended, enough more bytes are here, and three times as long has
/// passed as they took. So partial images of a source take a worker a quarter of the time at most,
/// and slow bytes cost no more looks than fast ones: some for each doubling of what is here.
struct PartialPace: Sendable {
    /// How a partial image ended.
    enum End: Sendable {
        /// Somebody saw something new.
        case shown
        /// It failed, or there was nothing to be seen yet.
        case fruitless
        /// Nobody wanted it any more, or other work needed its worker.
        case left
    }

    /// Bytes that were here at the last look.
    private var bytes: UInt64 = 0
    /// What the last look began and is under way.
    private(set) var underWay = 0
    /// Milliseconds of worker that the last look took so far.
    private var milliseconds = 0
    private var hasShown = false
    private var hasFailed = false
    /// Looks without fruit since the last one that had some.
    private var fruitless = 0
    /// The next look comes no earlier.
    private var resumes = Instant(nanoseconds: 0)

    /// A look is worth it where the bytes have grown by one part in so many, and by so many bytes.
    private static let growthDivisor: UInt64 = 16
    private static let growthMin: UInt64 = 1_024
    /// For a millisecond of work there are so many without.
    private static let restFactor = 3
    /// Milliseconds of the pause that doubles from one look without fruit to the next, at least
    /// and at most.
    private static let pauseMin = 50
    private static let pauseMax = 10_000
    private static let doublingsMax = 8

    /// Whether it is time for a look at so many bytes of a transfer; 0 `expected`: nobody said how
    /// many will come.
    func permits(_ arrived: UInt64, of expected: UInt64, at now: Instant) -> Bool {
        guard underWay == 0, now >= resumes, arrived > bytes else { return false }
        guard bytes > 0 else { return true }
        let grown = arrived - bytes
        return grown >= bytes / Self.growthDivisor
            && (grown >= Self.growthMin || arrived == expected)
    }

    /// A look at so many bytes begins a partial image, perhaps one more.
    mutating func begins(of arrived: UInt64) {
        if underWay == 0 { (milliseconds, hasShown, hasFailed) = (0, false, false) }
        bytes = arrived
        underWay += 1
    }

    /// A partial image has ended; it took a worker so many milliseconds.
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

// Images of what has arrived so far, while the rest comes (SEMANTICS §2.11).
extension Deriver {
    /// Bytes have arrived. Where it is time to look at them, each result that wants to see
    /// something begins a partial image of them, as long as a decoder is free. Who has seen least
    /// goes first.
    mutating func lookAt(
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

    private mutating func beginPartial(
        of result: ResultNode.ID, _ progress: JobProgress, _ arrived: BlockReference,
        _ block: BlockHandle, from node: SourceNode.ID
    ) {
        guard results[result].partial == nil,
            arrived.length > results[result].partialBytes,
            let need = progress.isPreview
                ? preview(of: result) : early(of: result, progress.format, from: node)
        else { return }
        let key = results[result].name.key.decode
        let suspect = suspect(sources[node].name.key, need, in: block)
        guard !isSuspected(suspect, for: results[result].name) else { return }
        // A preview is other bytes: what becomes of it is no evidence against the image.
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

    /// What is to be made of the bytes: pixels, where somebody wants to see them and they can be
    /// shown; else what the header says, until that is known.
    private func early(
        of result: ResultNode.ID, _ format: ImageFormat?, from node: SourceNode.ID
    ) -> DecodeNeed? {
        let wishes = results[result].consumers.members.reduce(into: Waiter.Wishes()) {
            $0.formUnion($1.wishes)
        }
        if wishes.contains(.partials), results[result].name.key.isOurs,
            dispatcher.mayShowPartially(format)
        {
            let need = results[result].name.key.decode.need
            return need == .header ? .full : need
        }
        let isNew = sources[node].early.info == nil
        return isNew && !wishes.isDisjoint(with: .early) ? .header : nil
    }

    /// The pixels of a whole image, of whatever format, where somebody wants to see them. What it
    /// says of itself is not said of the image to come.
    private func preview(of result: ResultNode.ID) -> DecodeNeed? {
        let isWanted = results[result].consumers.members.contains { $0.wishes.contains(.partials) }
        guard isWanted, results[result].name.key.isOurs else { return nil }
        let need = results[result].name.key.decode.need
        return need == .header ? .full : need
    }

    /// Behind all that somebody waits for.
    private func urgency(of partial: PartialNode.ID) -> Urgency {
        let wanted = results[partials[partial].result].consumers.urgency
        return Urgency(priority: .low, deadline: wanted.deadline, flows: wanted.flows)
    }

    // MARK: - What comes of its jobs

    mutating func continuePartial(
        _ partial: PartialNode.ID, _ job: Completion.Ended, _ result: JobResult,
        _ blocks: ShortList<BlockHandle>
    ) {
        switch result {
        case .decoded(let image):
            encode(partial, image, blocks)
        case .transformed(let image):
            if let block = blocks.first { deliver(partial, image, block) }
        case .stored(let report):
            tellPartial(partial, report, job)
            endPartial(partial, .shown)
        default: endPartial(partial, .fruitless)
        }
        // A job that follows holds what it reads.
        dispatcher.drop(blocks)
    }

    private mutating func encode(
        _ partial: PartialNode.ID, _ image: DecodedImage, _ blocks: ShortList<BlockHandle>
    ) {
        let node = partials[partial]
        if !node.progress.isPreview, sources[node.source].early.learn(image.info) {
            tellProgress(node.progress, of: node.source)
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

    private mutating func deliver(
        _ partial: PartialNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        partials[partial].info = image.info
        partials[partial].made = now
        let work = StoreWork(
            key: nil, source: image.reference, tiers: .none, delivers: true, waitsForDisk: false,
            metadata: StoredMetadata(info: image.info))
        partials[partial].job = submit(
            .store(work), for: .partial(partial), reading: block, urgency(of: partial),
            maker: .transform(results[partials[partial].result].name.key))
    }

    private mutating func tellPartial(
        _ partial: PartialNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        let node = partials[partial]
        guard let reference = report.delivered, let cache = job.worker, let info = node.info
        else { return }
        tell(.noticed(reference, cache))
        var image = DeliveredImage(
            reference: reference, info: info, cacheType: .none,
            key: CacheKey.key(inStored: results[node.result].text))
        image.digest = report.digest
        let block = BlockHandle(worker: cache, block: reference.block)
        let bytes = node.progress.arrived?.length ?? 0
        figures.partials += 1
        tell(results[node.result].consumers.members.filter { $0.wishes.contains(.partials) }) {
            .partial(Transfer(source: node.source), image, block, bytes, $0)
        }
    }
}

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

// Waiters are told how far their transfer is.
extension Deriver {
    /// Tells those of the source's waiters that want to know how far it is, and what its header
    /// says, as far as that is known.
    mutating func tellProgress(_ progress: JobProgress, of node: SourceNode.ID) {
        let info = sources[node].early.info
        let told = waiters(of: node).filter { !$0.wishes.isDisjoint(with: [.progress, .info]) }
        tell(told) { .progressed(Transfer(source: node), progress, info, $0) }
    }
}
