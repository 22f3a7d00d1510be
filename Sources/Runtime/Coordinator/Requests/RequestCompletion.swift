import Model

// Requests with an available image, some of which continue with a revalidation.
extension Scheduler {
    /// Completes a request with the result that the cache found.
    func completeFound(
        _ id: LiveRequest.ID, _ hit: CacheHit, _ block: BlockHandle?, _ timings: StageTimings
    ) {
        requests[id].timings += timings
        let request = requests[id]
        var image = DeliveredImage(
            reference: request.image.infoOnly ? nil : hit.reference, info: hit.metadata.info,
            cacheType: hit.tier, key: request.names.shownResultKey,
            storedTiers: request.waitsForStores ? hit.tier : nil)
        image.explanation = Explanation(request.image, request.plan, image)
        image.digest = hit.metadata.digest
        if request.image.context.wantsExtendedData {
            image.extendedData = hit.metadata.extendedData
        }
        if hit.tier == .memory {
            shared.counters.memoryHits += 1
        } else {
            shared.counters.diskHits += 1
        }
        let mark = BodyMark(hit.metadata)
        image.validity = reportedValidity(hit.metadata.caching, mark, of: request.admitted)
        answerCached(
            id, image, block,
            LiveRequest.CachedImage(mark: mark, tiers: hit.tier, caching: hit.metadata.caching))
    }

    /// Completes a request with the image that was made for it.
    func complete(_ id: LiveRequest.ID, _ product: FinishedProduct, _ block: BlockHandle?) {
        recordUse(id, product)
        var image = explained(product, for: id)
        if !requests[id].waitsForStores { image.storedTiers = nil }
        let plan = requests[id].plan
        guard let cached = LiveRequest.CachedImage(product),
            plan.refreshes || product.isOfCachedOriginal
        else { return answer(id, image, block) }
        answerCached(id, image, block, cached)
    }

    /// Returns the image with an explanation and validity, if the request asks for them.
    func explained(_ product: FinishedProduct, for id: LiveRequest.ID) -> DeliveredImage {
        var image = product.image
        let admitted = requests[id].admitted
        image.explanation = Explanation(admitted.image, admitted.plan, image, product: product)
        image.validity = reportedValidity(
            product.provenance.caching, product.provenance.mark, of: admitted)
        if requests[id].image.context.wantsExtendedData {
            image.extendedData = product.provenance.extendedData
        }
        return image
    }

    /// Answers a request whose image is available and that no longer waits for stores.
    func answerPending(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("a request that waits for stores has its image")
        }
        requests[id].pending = nil
        if let cached = pending.cached, requests[id].plan.respectsCacheControl {
            answer(id, pending.image, pending.block, asFarAsFresh: cached)
        } else {
            answer(id, pending.image, pending.block)
        }
        removeReader(of: pending.held)
    }
}

extension LiveRequest.CachedImage {
    /// Returns `nil` if the bytes were fetched.
    init?(_ product: FinishedProduct) {
        guard !product.isFetched else { return nil }
        self.init(
            mark: product.provenance.mark, tiers: .none, caching: product.provenance.caching)
    }
}

// Replies: exactly one terminal reply per request (SEMANTICS §2.4).
extension Scheduler {
    /// Sends the image of a request that waits for nothing; its client counts as a reader of a
    /// large block from now on.
    func answer(_ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?) {
        if requests[id].admitted.upload?.key != nil, image.storedTiers?.isEmpty ?? true {
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

    /// Ends a request before its work has finished.
    func end(_ id: LiveRequest.ID, _ error: ImageError) {
        withdraw(id)
        reply(id, .failure(error))
    }

    /// Sends the terminal reply of a request that waits for nothing. A failed request with a
    /// fallback continues with that instead.
    func reply(_ id: LiveRequest.ID, _ outcome: Reply.Outcome) {
        if hasLostSession(id) { return cancelSilently(id) }
        if case .notModified = outcome { noteUnmodified(id) }
        guard let outcome = settled(outcome, id) else { return }
        if case .failure(let error) = outcome, requests[id].mayFallBack(after: error, at: now) {
            workGraph.leaveOverlays(id)
            return pendingTransitions.moving.append(.fallBack(id, error))
        }
        let request = removeRequest(id)
        if request.isSilent { return }
        let reported = reportedOutcome(outcome, request)
        if case .failure(let error) = reported { shared.counters.ended(with: error) }
        if let batch = request.batch { return memberEnded(batch, request.image.url, reported) }
        times.record(from: request.admittedAt, to: now)
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.admittedAt)
        let reply = Reply(token: request.token, outcome: reported, timings: timings)
        shared.actions.append(.reply(request.client, reply))
        shared.actions.append(
            .record(
                RequestRecord(
                    url: request.fallbackContext?.url ?? request.image.url,
                    attempts: request.attempt,
                    logContext: request.admitted.logContext, reply: reply)))
    }

    /// Counts a used fallback, and returns the outcome to send to the client.
    private func reportedOutcome(
        _ outcome: Reply.Outcome, _ request: LiveRequest
    ) -> Reply.Outcome {
        guard let failure = request.fallbackContext else { return outcome }
        if case .image = outcome { shared.counters.fallbacks += 1 }
        return failure.outcome(of: outcome)
    }

    /// Records the end of a URL of a batch; nothing is delivered.
    func memberEnded(
        _ batch: PrefetchBatch, _ url: String, _ outcome: Reply.Outcome
    ) {
        shared.counters.prefetched += 1
        prefetching.ended(batch, url, outcome)
    }

    /// Replies to a load that was never enlisted as a live request.
    func answerAtOnce(
        _ load: LoadRequest, of client: ClientID, _ outcome: Reply.Outcome
    ) {
        let reply = Reply(token: load.token, outcome: outcome)
        shared.actions.append(.reply(client, reply))
        shared.actions.append(.record(RequestRecord(load, reply)))
    }
}

extension ImageRequest {
    /// Returns the error if the image doesn't satisfy the request.
    func refusal(of image: ImageInfo) -> ImageError? {
        guard options.contains(.matchAnimatedImageClass), !image.isOfAnimation else { return nil }
        return ImageError(
            .badImageData,
            "the image is not animated: remove the option match-animated-image-class"
        ) { $0.format = image.format.name }
    }
}

// Requests that wait for their turn.
extension Scheduler {
    /// Schedules a step for requests that no longer wait for work. The block is held until the last
    /// of them has been processed.
    func later(
        _ step: BatchOperation.Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil
    ) {
        guard !members.isEmpty else { return }
        for id in members { requests[id].place = nil }
        pendingTransitions.batchOperations.append(
            BatchOperation(step, members, block: block, held: hits.blocks.hold(block)))
    }

    /// Stores the image of a request until the store at `place`, if any, has finished.
    func keep(
        _ id: LiveRequest.ID, _ product: FinishedProduct, _ block: BlockHandle?, at place: Place?
    ) {
        recordUse(id, product)
        requests[id].pending = LiveRequest.Pending(
            explained(product, for: id), block, held: hits.blocks.hold(block),
            cached: product.isOfCachedOriginal ? LiveRequest.CachedImage(product) : nil)
        if let place { requests[id].place = place } else { later(.pending, [id]) }
    }

    /// Records the timings and metrics of an image that was made for a request.
    func recordUse(_ id: LiveRequest.ID, _ product: FinishedProduct) {
        requests[id].timings += product.timings
        if product.isOfCachedOriginal { shared.counters.originalUses += 1 }
    }

    /// Restarts a request whose image was lost with the cache before its reply was sent.
    func loseAnswer(_ id: LiveRequest.ID) {
        requests[id].place = nil
        requests[id].pending = nil
        pendingTransitions.moving.append(.again(id))
    }
}

// Removal of requests, with or without a reply.
extension Scheduler {
    /// Detaches a request from its work and its pending image.
    func withdraw(_ id: LiveRequest.ID) {
        if let place = requests[id].place { workGraph.leave(place) }
        removeReader(of: requests[id].pending?.held)
        requests[id].place = nil
        requests[id].pending = nil
        handleEvents()
    }

    /// Removes a request from all lists that contain it.
    @discardableResult
    func removeRequest(_ id: LiveRequest.ID) -> LiveRequest {
        workGraph.leaveOverlays(id)
        guard let request = requests.remove(id) else {
            preconditionFailure("a request must end only once")
        }
        removeReader(of: request.refreshing?.pending?.held)
        if request.isSilent {
            silent.remove(request.names.result)
        } else if let batch = request.batch {
            prefetching.leave(batch, seat: request.seat)
        } else {
            tokens[request.token] = nil
            clients[request.client]?.leave(id, request)
        }
        if let upload = request.admitted.upload { dispatcher.drop(upload.block) }
        return request
    }

    /// Cancels a request without a reply, because its client is gone or its batch is ending.
    func cancelSilently(_ id: LiveRequest.ID) {
        withdraw(id)
        removeRequest(id)
        shared.counters.cancelled += 1
    }

    /// Returns the request with a token. If its session has ended, cancels it silently instead: a
    /// new request may use the token before the turn in which the old one would be canceled.
    func liveRequest(with token: Token) -> LiveRequest.ID? {
        guard let id = tokens[token] else { return nil }
        guard hasLostSession(id) else { return id }
        cancelSilently(id)
        return nil
    }
}

// Requests whose session has ended.
extension Scheduler {
    /// Whether the request's session has ended. A request that isn't detached ends with it, in its
    /// turn.
    func hasLostSession(_ id: LiveRequest.ID) -> Bool {
        requests[id].batch == nil && !requests[id].isDetached
            && !clients.keys.contains(requests[id].client)
    }
}

// Delivery of images to clients, before and with the terminal reply.
extension Scheduler {
    /// Retains a large result for the client until it is released, within limits. Beyond them, the
    /// client must copy it.
    func lend(_ image: inout DeliveredImage, _ block: BlockHandle, to client: ClientID) {
        guard let reference = image.reference, ResultBlocks.isLarge(reference),
            clients[client] != nil
        else { return }
        image.mustCopy = !hits.blocks.deliver(block, reference.length, to: client)
    }

    /// Sends an image before the terminal reply.
    func show(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?, isRefreshing: Bool,
        arrivedBytes: UInt64? = nil
    ) {
        let request = requests[id]
        var image = image
        image.scaleFactor = request.scaleFactor
        if let block { lend(&image, block, to: request.client) }
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.admittedAt)
        shared.actions.append(
            .reply(
                request.client,
                Reply(
                    token: request.token, outcome: .image(image), timings: timings,
                    isRefreshing: isRefreshing, arrivedBytes: arrivedBytes)))
    }
}

// Notifications during a transfer: progress, the image header, and partial images
// (SEMANTICS §2.11).
extension Scheduler {
    /// Schedules the delivery of transfer progress to the requests that asked for it.
    func progressed(
        _ transfer: Transfer, _ progress: JobProgress, _ info: ImageInfo?,
        _ ids: [LiveRequest.ID]
    ) {
        // Skipped while earlier progress is still being delivered, unless there is new header
        // information.
        guard !pendingTransitions.isReporting(transfer, info) else { return }
        pendingTransitions.batchOperations.append(
            BatchOperation(.progress(transfer, progress, info), ids))
    }

    /// Sends progress to one request. Progress lower than what was already sent, as from a
    /// restarted transfer, is suppressed.
    func notifyProgress(
        _ id: LiveRequest.ID, _ progress: JobProgress, _ info: ImageInfo?, of transfer: Transfer
    ) {
        guard let place = requests[id].place,
            workGraph.isFed(place, by: transfer), requests[id].received <= progress.received,
            !hasLostSession(id)
        else { return }
        requests[id].received = progress.received
        let progressReport = RequestProgress(
            token: requests[id].token, received: progress.received, expected: progress.expected,
            info: requests[id].wantedNotifications.contains(.info) ? info : nil)
        shared.actions.append(.progress(requests[id].client, progressReport))
    }

    // MARK: - Partial images

    /// Schedules the delivery of a partial image. The block is held until the last request has
    /// received it.
    func offer(
        _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64, from transfer: Transfer,
        to ids: [LiveRequest.ID]
    ) {
        guard !ids.isEmpty else { return }
        pendingTransitions.batchOperations.append(
            BatchOperation(
                .partial(transfer, image, bytes), ids, block: block,
                held: hits.blocks.hold(block)))
    }

    /// Sends a partial image to one request, unless its complete image already exists. After a
    /// restart of the transfer, nothing is sent until it exceeds the bytes of the last partial
    /// image.
    func showPartial(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle, of bytes: UInt64,
        from transfer: Transfer
    ) {
        guard let place = requests[id].place,
            workGraph.isFedOnly(place, by: transfer), !hasLostSession(id),
            requests[id].shown < bytes,
            dispatcher.contains(block.worker)
        else { return }
        requests[id].shown = bytes
        show(id, image, block, isRefreshing: false, arrivedBytes: bytes)
    }
}

// Explains how the image of a request was produced, as far as the coordinator and its workers know.
extension Explanation {
    /// Returns `nil` if the request didn't ask for an explanation.
    init?(
        _ request: ImageRequest, _ plan: LoadPlan, _ image: DeliveredImage,
        product: FinishedProduct? = nil
    ) {
        guard request.wantsExplanation else { return nil }
        let steps = request.allSteps
        var transformed = product?.transformed
        if let account = transformed {
            transformed?.foldedSteps = min(account.foldedSteps, UInt32(steps.count))
        }
        self.init(
            plan: plan.stageNames, steps: steps.map(Self.text),
            settings: transformed == nil
                ? [:] : request.output.reportedSettings(for: image.info.format),
            fetched: product?.provenance.fetched, decoded: product?.decoded,
            transformed: transformed)
    }

    /// The key contains the whole step. For overlays only the name is shown, because their key
    /// contains a URL that must not be disclosed.
    private static func text(_ step: TransformStep) -> String {
        let text = step.overlay == nil ? step.key : step.name
        guard text.utf8.count > MessageLimits.textBytesMax else { return text }
        return step.name
    }
}

extension OutputOptions {
    /// Returns the encoder settings by name: the quality, if the format has one, and the settings
    /// of the request.
    fileprivate func reportedSettings(for format: ImageFormat) -> [String: String] {
        var settings = settingTexts.filter { name, _ in
            OutputSetting(name: name)?.row.formats.contains(format) == true
        }
        let output = format.traits.output
        if output?.hasLossyQuality(self) == true {
            settings["quality"] = "\(quality ?? Self.defaultQuality)"
        }
        if lossless, output?.loss == .optional { settings["lossless"] = OutputSetting.isThere }
        if let compression, format == .png { settings["compression"] = "\(compression)" }
        return settings
    }
}
