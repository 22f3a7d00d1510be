import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that have their image: some go on to the origin.
extension Scheduler {
    /// A request has the result that the cache found.
    mutating func completeFound(
        _ id: LiveRequest.ID, _ hit: CacheHit, _ block: BlockHandle?, _ timings: StageTimings
    ) {
        requests[id].timings += timings
        let request = requests[id]
        var image = DeliveredImage(
            reference: request.image.infoOnly ? nil : hit.reference, info: hit.metadata.info,
            cacheType: hit.tier, key: request.names.resultKey,
            storedTiers: request.waitsForStores ? hit.tier : nil)
        image.explanation = Explanation(request.order, image)
        image.digest = hit.metadata.digest
        if request.image.context.wantsExtendedData {
            image.extendedData = hit.metadata.extendedData
        }
        if hit.tier == .memory {
            figures.counters.memoryHits += 1
        } else {
            figures.counters.diskHits += 1
        }
        let mark = BodyMark(hit.metadata)
        image.validity = told(hit.metadata.caching, mark, of: request.order)
        answerCached(
            id, image, block,
            LiveRequest.CachedImage(mark: mark, tiers: hit.tier, caching: hit.metadata.caching))
    }

    /// A request has what was made for it.
    mutating func complete(_ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?) {
        took(id, made)
        var image = explained(made, for: id)
        if !requests[id].waitsForStores { image.storedTiers = nil }
        let plan = requests[id].plan
        guard let cached = LiveRequest.CachedImage(made), plan.refreshes || made.isOfCachedOriginal
        else { return answer(id, image, block) }
        answerCached(id, image, block, cached)
    }

    /// The image that was made, with how it was where the request asks for that.
    func explained(_ made: Made, for id: LiveRequest.ID) -> DeliveredImage {
        var image = made.image
        let order = requests[id].order
        image.explanation = Explanation(order, image, made: made)
        image.validity = told(made.caching, made.mark, of: order)
        if requests[id].image.context.wantsExtendedData { image.extendedData = made.extendedData }
        return image
    }

    /// The image of a request that waits for nothing any more.
    mutating func answerPending(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("who waits for stores has its image")
        }
        requests[id].pending = nil
        if let cached = pending.cached, requests[id].plan.respectsCacheControl {
            answer(id, pending.image, pending.block, asFarAsFresh: cached)
        } else {
            answer(id, pending.image, pending.block)
        }
        if let block = pending.block { letGo(block) }
    }
}

extension LiveRequest.CachedImage {
    /// That of an image that was made; `nil` where its bytes were fetched.
    init?(_ made: Made) {
        guard !made.isFetched else { return nil }
        self.init(mark: made.mark, tiers: .none, caching: made.caching)
    }
}

// reply: exactly one for each request (SEMANTICS §2.4)
extension Scheduler {
    /// The image of a request that waits nowhere any more; a large block counts as read from now
    /// on.
    mutating func answer(_ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?) {
        if requests[id].order.upload?.key != nil, image.storedTiers?.isEmpty ?? true {
            return reply(id, .failure(Self.notKept))
        }
        if let refusal = requests[id].image.refusal(of: image.info) {
            return reply(id, .failure(refusal))
        }
        var image = image
        image.scaleFactor = requests[id].scaleFactor
        if let block, requests[id].isAnswered { lend(&image, block, to: requests[id].client) }
        reply(id, .image(image))
    }

    /// A request ends before its work does.
    mutating func end(_ id: LiveRequest.ID, _ error: ImageError) {
        withdraw(id)
        reply(id, .failure(error))
    }

    /// The terminal reply of a request that waits nowhere any more. One that fails and has a
    /// fallback goes on with that instead.
    mutating func reply(_ id: LiveRequest.ID, _ outcome: Reply.Outcome) {
        if isForsaken(id) { return forsake(id) }
        if case .notModified = outcome { noteUnmodified(id) }
        guard let outcome = settled(outcome, id) else { return }
        if case .failure(let error) = outcome, requests[id].mayFallBack(after: error, at: now) {
            deriver.leaveOverlays(id)
            return agenda.append(.fallBack(id, error))
        }
        let request = strike(id)
        if request.isSilent { return }
        let told = told(outcome, request)
        if case .failure(let error) = told { figures.counters.ended(with: error) }
        if let batch = request.batch { return memberEnded(batch, request.image.url, told) }
        figures.times.record(from: request.facts.admittedAt, to: now)
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.facts.admittedAt)
        let reply = Reply(token: request.token, outcome: told, timings: timings)
        actions.append(.reply(request.client, reply))
        actions.append(
            .record(
                RequestRecord(
                    url: request.fallenBack?.url ?? request.image.url, attempts: request.attempt,
                    request.order.logContext, reply)))
    }

    /// Counts the end of a request, and returns what its client is told.
    private mutating func told(
        _ outcome: Reply.Outcome, _ request: LiveRequest
    ) -> Reply.Outcome {
        guard let failure = request.fallenBack else { return outcome }
        if case .image = outcome { figures.counters.fallbacks += 1 }
        return failure.outcome(of: outcome)
    }

    /// A URL of a batch has ended: that is counted, and nothing is delivered.
    mutating func memberEnded(
        _ batch: PrefetchBatch.ID, _ url: String, _ outcome: Reply.Outcome
    ) {
        figures.counters.prefetched += 1
        prefetching.ended(batch, url, outcome)
    }

    /// Replies to a load that was never a live request.
    mutating func answerAtOnce(
        _ load: LoadRequest, of client: ClientID, _ outcome: Reply.Outcome
    ) {
        let reply = Reply(token: load.token, outcome: outcome)
        actions.append(.reply(client, reply))
        actions.append(.record(RequestRecord(load, reply)))
    }
}

extension ImageRequest {
    /// Why an image is none that will do.
    func refusal(of image: ImageInfo) -> ImageError? {
        guard options.contains(.matchAnimatedImageClass), !image.isOfAnimation else { return nil }
        return ImageError(
            .badImageData,
            "the image is no animation: leave out the option match-animated-image-class",
            details: ["format": image.format.name])
    }
}

// Requests that only wait for their turn.
extension Scheduler {
    /// Requests that wait nowhere any more go on with this step, each in its turn. The block is
    /// held until the last of them had its turn.
    mutating func later(
        _ step: BulkWork.Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        missed text: String? = nil
    ) {
        guard !members.isEmpty else { return }
        for id in members { requests[id].standing = .moving }
        if let block { hits.hold(block) }
        agenda.append(BulkWork(step, members, block: block, missedText: text))
    }

    /// A request that has its image keeps it until the store at that place has ended, if there is
    /// one.
    mutating func keep(
        _ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?, at place: Place?
    ) {
        took(id, made)
        if let block { hits.hold(block) }
        requests[id].pending = LiveRequest.Pending(
            image: explained(made, for: id), block: block,
            cached: made.isOfCachedOriginal ? LiveRequest.CachedImage(made) : nil)
        if let place { requests[id].standing = .waiting(place) } else { later(.pending, [id]) }
    }

    /// The stores that these requests waited for have ended.
    mutating func storesEnded(_ stored: [Stored]) {
        for one in stored { requests[one.id].pending?.image.storedTiers = one.tiers }
        later(.pending, stored.map(\.id))
    }

    /// Counts what was made for a request.
    mutating func took(_ id: LiveRequest.ID, _ made: Made) {
        requests[id].timings += made.timings
        if made.isOfCachedOriginal { figures.counters.originalUses += 1 }
    }

    /// The image of a request was lost with the cache before its reply went out.
    mutating func loseAnswer(_ id: LiveRequest.ID) {
        requests[id].standing = .moving
        requests[id].pending = nil
        agenda.append(.again(id))
    }
}

// Requests that are over, with or without a reply.
extension Scheduler {
    /// Nobody waits for this request any more.
    mutating func withdraw(_ id: LiveRequest.ID) {
        if case .waiting(let place) = requests[id].standing { deriver.leave(place) }
        if let block = requests[id].pending?.block { letGo(block) }
        requests[id].standing = .moving
        requests[id].pending = nil
        takeEvents()
    }

    /// Takes a request off every list that knows it by its client or token.
    @discardableResult
    mutating func strike(_ id: LiveRequest.ID) -> LiveRequest {
        deriver.leaveOverlays(id)
        guard let request = requests.remove(id) else {
            preconditionFailure("a request ends once")
        }
        if let block = request.refreshing?.held?.block { letGo(block) }
        if request.isSilent {
            silent.remove(request.names.result)
        } else if let batch = request.batch {
            prefetching.leave(batch, seat: request.seats.seat)
        } else {
            tokens[request.token] = nil
            clients.change(request.client) { $0.leave(id, request) }
        }
        if let upload = request.order.upload { drop(upload.block) }
        return request
    }

    /// Ends a request without a word: nobody is there to be answered, or the answer is for a batch
    /// that ends.
    mutating func forsake(_ id: LiveRequest.ID) {
        withdraw(id)
        strike(id)
        figures.counters.cancelled += 1
    }

    /// A token is free again whose request is about to end with its session.
    mutating func freeToken(_ token: Token) {
        if let id = tokens[token], isForsaken(id) { forsake(id) }
    }
}

// Requests whose session is over.
extension Scheduler {
    /// Whether the request's session is over. A request that was not detached ends with it, in its
    /// turn.
    func isForsaken(_ id: LiveRequest.ID) -> Bool {
        requests[id].batch == nil && !requests[id].isDetached
            && !clients.keys.contains(requests[id].client)
    }
}

// Images that clients get, before the terminal reply and with it.
extension Scheduler {
    /// A large result is kept for the client until it releases it, as far as limits allow. Beyond
    /// them, the client is told to copy.
    mutating func lend(_ image: inout DeliveredImage, _ block: BlockHandle, to client: ClientID) {
        guard let reference = image.reference, ResultBlocks.isLarge(reference),
            clients[client] != nil
        else { return }
        image.mustCopy = !hits.lend(block, reference.length, to: client)
    }

    /// An image before the terminal reply.
    mutating func show(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?, isRefreshing: Bool,
        arrivedBytes: UInt64? = nil
    ) {
        let request = requests[id]
        var image = image
        image.scaleFactor = request.scaleFactor
        if let block { lend(&image, block, to: request.client) }
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.facts.admittedAt)
        actions.append(
            .reply(
                request.client,
                Reply(
                    token: request.token, outcome: .image(image), timings: timings,
                    isRefreshing: isRefreshing, arrivedBytes: arrivedBytes)))
    }
}

// What requests are told while bytes arrive: how far their transfer is, what its header says, and
// images of what has come so far (SEMANTICS §2.11).
extension Scheduler {
    /// Tells requests how far the transfer is that they wait for, where they asked to be told.
    mutating func progressed(
        _ transfer: Transfer, _ progress: JobProgress, _ info: ImageInfo?,
        _ ids: [LiveRequest.ID]
    ) {
        // Where some are still to be told of earlier progress, the next one is as good, unless it
        // says more.
        guard !agenda.isTelling(transfer, info) else { return }
        agenda.append(BulkWork(.progress(transfer, progress, info), ids))
    }

    /// Tells one request. A transfer that begins again goes back to no earlier figure for a
    /// request that was told a later one.
    mutating func tellProgress(
        _ id: LiveRequest.ID, _ progress: JobProgress, _ info: ImageInfo?, of transfer: Transfer
    ) {
        guard case .waiting(let place) = requests[id].standing,
            deriver.isFed(place, by: transfer), requests[id].received <= progress.received,
            !isForsaken(id)
        else { return }
        requests[id].received = progress.received
        let told = RequestProgress(
            token: requests[id].token, received: progress.received, expected: progress.expected,
            info: requests[id].facts.wishes.contains(.info) ? info : nil)
        actions.append(.progress(requests[id].client, told))
    }

    // MARK: - Partial images

    /// Shows requests an image of so many bytes. The block is held until the last of them has it.
    mutating func offer(
        _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64, from transfer: Transfer,
        to ids: [LiveRequest.ID]
    ) {
        guard !ids.isEmpty else { return }
        hits.hold(block)
        agenda.append(BulkWork(.partial(transfer, image, bytes), ids, block: block))
    }

    /// Shows it to one request, unless its whole image exists by now. Who was shown more before
    /// waits for more again, where the transfer began anew.
    mutating func showPartial(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64,
        from transfer: Transfer
    ) {
        guard case .waiting(let place) = requests[id].standing,
            deriver.isFedOnly(place, by: transfer), !isForsaken(id), requests[id].shown < bytes,
            deriver.dispatcher.contains(block.worker)
        else { return }
        requests[id].shown = bytes
        show(id, image, block, isRefreshing: false, arrivedBytes: bytes)
    }
}

// How the image of a request came about, as far as the coordinator and its workers know.
extension Explanation {
    /// `nil` where the request did not ask.
    init?(
        _ order: Order, _ image: DeliveredImage, made: Made? = nil
    ) {
        self.init(order.image, order.plan, image, made: made)
    }

    /// `nil` where the request did not ask.
    init?(
        _ request: ImageRequest, _ plan: JobPlan, _ image: DeliveredImage, made: Made? = nil
    ) {
        guard request.wantsExplanation else { return nil }
        let steps = request.allSteps
        var transformed = made?.transformed
        if let account = transformed {
            transformed?.foldedSteps = min(account.foldedSteps, UInt32(steps.count))
        }
        self.init(
            plan: plan.stageNames, steps: steps.map(Self.text),
            settings: transformed == nil ? [:] : request.output.told(to: image.info.format),
            fetched: made?.fetched, decoded: made?.decoded, transformed: transformed)
    }

    /// The key has all that the step says; that of an overlay has a URL, which is nobody's
    /// business here.
    private static func text(_ step: TransformStep) -> String {
        let text = step.overlay == nil ? step.key : step.name
        guard text.utf8.count > MessageLimits.textBytesMax else { return text }
        return step.name
    }
}

extension OutputOptions {
    /// What an encoder of the format is told, by name: the quality where it has one, and what the
    /// request says besides.
    fileprivate func told(to format: ImageFormat) -> [String: String] {
        var told = settingTexts.filter { name, _ in
            OutputSetting(name: name)?.row.formats.contains(format) == true
        }
        let output = format.traits.output
        if output?.losesSomething(self) == true {
            told["quality"] = "\(quality ?? Self.defaultQuality)"
        }
        if lossless, output?.loss == .optional { told["lossless"] = OutputSetting.isThere }
        if let compression, format == .png { told["compression"] = "\(compression)" }
        return told
    }
}
