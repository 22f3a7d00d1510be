import Model

// Delivery of cached images subject to freshness (SEMANTICS §6.5).
//
//     fresh ──► delivered
//     stale-while-revalidate ──► delivered; revalidated in the background
//     stale ──► held until external caches, then the origin have been queried
//                 ├──revalidated according to a cache──► delivered
//                 ├──304, or the same bytes──► delivered
//                 ├──other bytes──► these are delivered
//                 └──failure──► delivered within `stale-if-error`, else the failure
extension Scheduler {
    /// The current time in milliseconds since 1970.
    var calendarNow: Int64 {
        Int64(clamping: now.nanoseconds / 1_000_000) + calendarOffsetMilliseconds
    }

    /// Whether an image in memory is fresh and may be delivered at once.
    func isFresh(_ entry: HitIndex.Entry, _ terms: LoadTerms, _ names: RequestNames) -> Bool {
        guard let validity = entry.origin?.validity else { return false }
        let caching = hits.confirmations.caching(
            validity.caching, of: names.plainOriginal, BodyMark(validity), at: calendarNow)
        return FreshnessDecision(terms.expiry(caching), at: calendarNow) == .fresh
    }

    /// Answers a request with a cached image subject to freshness. Uploads have no origin and are
    /// always delivered.
    func answer(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        asFarAsFresh cached: LiveRequest.CachedImage
    ) {
        guard requests[id].admitted.upload == nil else { return answer(id, image, block) }
        let caching = hits.confirmations.caching(
            cached.caching, of: requests[id].names.plainOriginal, cached.mark, at: calendarNow)
        let expiry = requests[id].admitted.terms.expiry(caching)
        switch FreshnessDecision(expiry, at: calendarNow) {
        case .fresh:
            if !cached.tiers.isEmpty, let caching, caching != cached.caching {
                workGraph.renew(
                    [requests[id].names.result], cached.mark, caching, fromOrigin: false)
            }
            answer(id, image, block)
        case .staleWhileRevalidate:
            refreshInBackground(id, cached)
            answer(id, image, block)
        case .revalidate: askFirst(id, image, block, cached)
        }
    }

    /// Revalidates the image before delivering it.
    private func askFirst(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        _ cached: LiveRequest.CachedImage
    ) {
        let pending = LiveRequest.Pending(image, block, held: hits.blocks.hold(block))
        revalidate(id, Refreshing(cached, pending: pending))
    }

    /// Continues a request that has an image with the stages of its revalidation.
    private func revalidate(_ id: LiveRequest.ID, _ refreshing: Refreshing) {
        requests[id].refreshing = refreshing
        workGraph.leaveOverlays(id)
        requests[id].remainingStages = requests[id].allStages
        requests[id].place = nil
        pendingTransitions.moving.append(.onward(id))
    }

    // MARK: - In the background

    /// Starts a background revalidation of a stale image unless there is one. If there are too many
    /// requests, the next load of the image does it.
    private func refreshInBackground(
        _ id: LiveRequest.ID, _ cached: LiveRequest.CachedImage
    ) {
        let request = requests[id]
        guard !drain.isBegun, requests.count < limits.liveRequestsMax,
            silent.insert(request.names.result).inserted
        else { return }
        let deadline = now.adding(milliseconds: request.image.timeoutMilliseconds)
        let new = requests.insert(
            LiveRequest(
                owner: request.owner, isDetached: true, token: request.token, group: nil,
                slot: nil, httpClient: request.httpClient, batch: nil, isSilent: true,
                admittedAt: now, deadline: deadline,
                client: request.client, share: request.share, admitted: request.admitted,
                priority: request.priority, remainingStages: request.plan.refreshStages))
        requests[new].refreshing = Refreshing(cached)
        deadlines.set(new, at: deadline)
        pendingTransitions.moving.append(.onward(new))
    }

    // MARK: - Revalidation results

    /// Handles the confirmation that a request's image is current. The new caching information is
    /// stored with the image and its original, unless neither it nor the earlier information
    /// permits use without revalidation. If the origin leaves the lifetime open, other requests may
    /// assume a longer one than this request.
    func noteUnmodified(_ id: LiveRequest.ID) {
        guard let refreshing = requests[id].refreshing,
            let caching = confirmed(refreshing, id), caching != refreshing.caching
        else { return }
        let (names, terms) = (requests[id].names, requests[id].admitted.terms)
        let lastUse = [caching, refreshing.caching].compactMap { terms.expiry($0)?.lastUse }.max()
        guard caching.leavesLifetimeOpen || lastUse ?? 0 > calendarNow else { return }
        workGraph.renew(
            [names.result, names.original], refreshing.mark, caching,
            fromOrigin: !refreshing.isConfirmedElsewhere)
    }

    /// The current caching information of the image that the request has.
    func confirmed(_ refreshing: Refreshing, _ id: LiveRequest.ID) -> OriginCaching? {
        hits.confirmations.caching(
            refreshing.caching, of: requests[id].names.plainOriginal, refreshing.mark,
            at: calendarNow)
    }

    /// Returns the outcome for a request that holds a stale image: that image, if it may be served.
    /// Returns `nil` if the image was lost with the cache and the request restarts.
    func settled(_ outcome: Reply.Outcome, _ id: LiveRequest.ID) -> Reply.Outcome? {
        guard let refreshing = requests[id].refreshing, let held = refreshing.pending,
            let failure = servesHeld(outcome, id, refreshing)
        else { return outcome }
        if let block = held.block, !dispatcher.contains(block.worker) {
            guard requests[id].deadline > now else { return outcome }
            requests[id].refreshing = nil
            loseAnswer(id)
            return nil
        }
        var image = held.image
        image.scaleFactor = requests[id].scaleFactor
        image.validity = reportedValidity(
            refreshing.caching, refreshing.mark, of: requests[id].admitted)
        if failure.error != nil {
            image.validity = image.validity ?? Validity()
            image.validity?.originFailure = failure.error
        }
        if let block = held.block, requests[id].isAnswered {
            lend(&image, block, to: requests[id].client)
        }
        return .image(image)
    }

    /// Returns whether the held image is the answer, with the failure that led to it; `nil` if it
    /// isn't.
    private func servesHeld(
        _ outcome: Reply.Outcome, _ id: LiveRequest.ID, _ refreshing: Refreshing
    ) -> (error: ImageError?, Void)? {
        switch outcome {
        case .notModified: return (nil, ())
        case .failure(let error):
            let expiry = requests[id].admitted.terms.expiry(confirmed(refreshing, id))
            let mayServe = expiry?.mayServe(afterErrorAt: calendarNow) ?? false
            return mayServe && error.isOfOrigin ? (error, ()) : nil
        case .image, .miss: return nil
        }
    }

    // MARK: - Validity in replies

    /// Returns the validity to include in a reply if the request asks for it.
    func reportedValidity(_ caching: OriginCaching?, _ mark: BodyMark, of admitted: AdmittedRequest)
        -> Validity?
    {
        guard admitted.image.wantsValidity else { return nil }
        return reportedValidity(caching, mark, admitted.names, admitted.terms)
    }

    /// Returns the validity of an image with these names and terms.
    func reportedValidity(
        _ caching: OriginCaching?, _ mark: BodyMark, _ names: RequestNames, _ terms: LoadTerms
    ) -> Validity? {
        Validity(
            reporting: hits.confirmations.caching(
                caching, of: names.plainOriginal, mark, at: calendarNow), mark, terms)
    }
}

extension Validity {
    /// Creates the validity for a reply; `nil` if there is no information. Internal marks, and
    /// information that the operator has configured to ignore, are omitted. Responses to requests
    /// with credentials are private unless the origin permits sharing (RFC 9111 §3.5).
    init?(reporting caching: OriginCaching?, _ mark: BodyMark, _ terms: LoadTerms) {
        let validators = mark.validators
        self.init(
            expiry: terms.expiry(caching), caching: terms.ignoresCacheControl ? nil : caching,
            etag: validators?.etag, lastModified: validators?.lastModified)
        if terms.cacheRole == .personal, let control = self.caching?.cacheControl,
            !control.isPublic,
            control.sharedMaxAge == nil
        {
            self.caching?.cacheControl.isPrivate = true
        }
        if self == Validity() { return nil }
    }
}

extension ImageRequest {
    /// Whether the reply includes the validity of the image (SEMANTICS §6.9).
    var wantsValidity: Bool { options.contains(.respectCacheControl) || wantsExplanation }
}

extension ImageError {
    /// Whether the error means that the origin could not be reached or could not answer: errors
    /// that a gateway would report as 500, 502, 503 or 504 (RFC 5861 §4).
    fileprivate var isOfOrigin: Bool {
        switch code {
        case .connectionFailed, .connectionBroken, .nameNotResolved, .timedOut, .shortBody,
            .protocolBroken, .deadlineExceeded:
            true
        case .invalidDownloadStatusCode: typedDetails.httpStatus.map { $0 >= 500 } ?? false
        default: false
        }
    }
}

/// The image that a request has while it is being revalidated.
final class Refreshing {
    /// The mark of the bytes from which the image was made.
    let mark: BodyMark
    /// Tiers that have it under the key of the request; a newer image replaces it there.
    let tiers: CacheTypes
    /// The origin's caching information at the time of the store.
    let caching: OriginCaching?
    /// The stale image if it hasn't been delivered; the result of the revalidation decides.
    let pending: LiveRequest.Pending?
    /// Whether external caches were queried for its freshness.
    var hasAskedExternalCaches = false
    /// Whether an external cache confirmed it, so that the origin wasn't contacted.
    var isConfirmedElsewhere = false

    init(_ cached: LiveRequest.CachedImage, pending: LiveRequest.Pending? = nil) {
        (mark, tiers, caching) = (cached.mark, cached.tiers, cached.caching)
        self.pending = pending
    }
}

// refreshCached: delivers the cached image at once, then the result of the revalidation
// (SEMANTICS §6.1).
extension Scheduler {
    /// Answers a request with a cached image. A request with `refreshCached` continues with the
    /// revalidation; for any other, this is the terminal reply.
    func answerCached(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        _ cached: LiveRequest.CachedImage
    ) {
        if requests[id].plan.respectsCacheControl {
            return answer(id, image, block, asFarAsFresh: cached)
        }
        guard requests[id].plan.refreshes, requests[id].image.refusal(of: image.info) == nil
        else { return answer(id, image, block) }
        if requests[id].batch == nil { show(id, image, block, isRefreshing: true) }
        revalidate(id, Refreshing(cached))
    }
}

// External caches may know that another machine has revalidated an image. They are queried before
// the origin (SEMANTICS §6.7).
extension Scheduler {
    /// Whether to query external caches first. Images with overlays are excluded because their
    /// marks don't cover the overlays.
    func asksExternalCaches(_ id: LiveRequest.ID) -> Bool {
        guard workGraph.layout.hasExternal, let refreshing = requests[id].refreshing else {
            return false
        }
        return requests[id].plan.respectsCacheControl && !refreshing.hasAskedExternalCaches
            && refreshing.mark != .none && requests[id].admitted.terms.overlays.isEmpty
            && !workGraph.sharedTexts(of: requests[id].names).isEmpty
    }

    /// Queries external caches about the stale image of a request. Returns `false` if their queue
    /// is full.
    func askExternalCaches(_ id: LiveRequest.ID) -> Bool {
        guard let refreshing = requests[id].refreshing else { return false }
        requests[id].refreshing?.hasAskedExternalCaches = true
        let request = requests[id]
        let place = workGraph.askValidity(
            request.subscriber(id), of: refreshing.mark, confirmed(refreshing, id), request.urgency)
        guard let place else { return false }
        requests[id].place = place
        handleEvents()
        return true
    }

    /// Handles the answer of external caches. If the image is fresh accordingly, the request is
    /// answered; otherwise it is revalidated with the origin.
    func compare(_ id: LiveRequest.ID, with known: Validity?, _ timings: StageTimings) {
        requests[id].timings += timings
        guard let refreshing = requests[id].refreshing else {
            preconditionFailure("a revalidation requires a stale image")
        }
        if let caching = known?.caching, isNews(caching, refreshing, id) {
            // An external cache knows the complete information.
            hits.withdraw(
                .confirmed(
                    plainOriginal: requests[id].names.plainOriginal, refreshing.mark,
                    Confirmation(caching: caching, isWhole: true)))
        }
        let caching = confirmed(refreshing, id)
        let expiry = requests[id].admitted.terms.expiry(caching)
        if FreshnessDecision(expiry, at: calendarNow) == .fresh {
            requests[id].refreshing?.isConfirmedElsewhere = true
            return reply(id, .notModified)
        }
        requests[id].remainingStages = requests[id].allStages
        pendingTransitions.moving.append(.onward(id))
    }

    /// Whether the information is newer than the local information. Future times are rejected: the
    /// clock of that machine is ahead.
    private func isNews(
        _ caching: OriginCaching, _ refreshing: Refreshing, _ id: LiveRequest.ID
    ) -> Bool {
        guard caching.age.isKnown(at: calendarNow) else { return false }
        guard let ours = confirmed(refreshing, id), ours.age.isKnown(at: calendarNow) else {
            return true
        }
        return caching.age.bornMilliseconds > ours.age.bornMilliseconds
    }
}
