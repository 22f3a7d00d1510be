import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// A cached image where its origin's word on freshness counts (SEMANTICS §6.5).
//
//     fresh ──► delivered
//     stale, and the origin permits it ──► delivered; the origin is asked in the background
//     stale ──► held until external caches, then the origin were asked
//                 ├──a cache has it confirmed──► delivered
//                 ├──304, or the same bytes──► delivered
//                 ├──other bytes──► these are delivered
//                 └──failure──► delivered within `stale-if-error`, else the failure
extension Scheduler {
    /// Milliseconds since 1970.
    var calendarNow: Int64 {
        Int64(clamping: now.nanoseconds / 1_000_000) + calendarOffsetMilliseconds
    }

    /// Whether an image in memory may be delivered at once.
    func isFresh(_ entry: HitIndex.Entry, _ terms: LoadTerms, _ names: RequestNames) -> Bool {
        guard let validity = entry.origin?.validity else { return false }
        let caching = hits.confirmations.caching(
            validity.caching, of: names.plainOriginal, BodyMark(validity), at: calendarNow)
        return FreshnessDecision(terms.expiry(caching), at: calendarNow) == .fresh
    }

    /// A request for which freshness counts has a cached image. What came along has no origin.
    mutating func answer(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        asFarAsFresh cached: LiveRequest.CachedImage
    ) {
        guard requests[id].order.upload == nil else { return answer(id, image, block) }
        let caching = hits.confirmations.caching(
            cached.caching, of: requests[id].names.plainOriginal, cached.mark, at: calendarNow)
        let expiry = requests[id].order.terms.expiry(caching)
        switch FreshnessDecision(expiry, at: calendarNow) {
        case .fresh:
            if !cached.tiers.isEmpty, let caching, caching != cached.caching {
                deriver.renew(
                    [requests[id].names.result], cached.mark, caching, fromOrigin: false)
            }
            answer(id, image, block)
        case .staleWhileRevalidate:
            refreshInBackground(id, cached)
            answer(id, image, block)
        case .revalidate: askFirst(id, image, block, cached)
        }
    }

    /// The origin is asked before the image is delivered.
    private mutating func askFirst(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        _ cached: LiveRequest.CachedImage
    ) {
        if let block { hits.hold(block) }
        var refreshing = Refreshing(
            mark: cached.mark, tiers: cached.tiers, caching: cached.caching)
        refreshing.held = LiveRequest.Pending(image: image, block: block)
        requests[id].refreshing = refreshing
        deriver.leaveOverlays(id)
        requests[id].ways = requests[id].allWays
        requests[id].standing = .moving
        agenda.append(.onward(id))
    }

    // MARK: - In the background

    /// Asks the origin about a stale image for nobody, unless that is under way. Where there are
    /// too many requests, the next load of the image does it.
    private mutating func refreshInBackground(
        _ id: LiveRequest.ID, _ cached: LiveRequest.CachedImage
    ) {
        let request = requests[id]
        guard !drain.isBegun, requests.count < limits.liveRequestsMax,
            silent.insert(request.names.result).inserted
        else { return }
        let deadline = now.adding(milliseconds: request.image.timeoutMilliseconds)
        let new = requests.insert(
            LiveRequest(
                facts: LiveRequest.Facts(
                    owner: request.owner, isDetached: true, token: request.token, group: nil,
                    slot: nil, visitor: request.facts.visitor, batch: nil, isSilent: true,
                    admittedAt: now, deadline: deadline),
                client: request.client, share: request.share, order: request.order,
                priority: request.priority, ways: request.plan.refreshWays))
        requests[new].refreshing = Refreshing(
            mark: cached.mark, tiers: cached.tiers, caching: cached.caching)
        deadlines.set(deadline, for: new)
        agenda.append(.onward(new))
    }

    // MARK: - What the origin said

    /// The origin has nothing newer than the image that a request has: what it said of caching is
    /// kept with the image and its original, unless neither that nor what was said before lets
    /// anybody use the image without a question. Where it leaves the lifetime open, others may
    /// assume more of it than who asked.
    mutating func noteUnmodified(_ id: LiveRequest.ID) {
        guard let refreshing = requests[id].refreshing,
            let caching = confirmed(refreshing, id), caching != refreshing.caching
        else { return }
        let (names, terms) = (requests[id].names, requests[id].order.terms)
        let lastUse = [caching, refreshing.caching].compactMap { terms.expiry($0)?.lastUse }.max()
        guard caching.leavesLifetimeOpen || lastUse ?? 0 > calendarNow else { return }
        deriver.renew(
            [names.result, names.original], refreshing.mark, caching,
            fromOrigin: !refreshing.isConfirmedElsewhere)
    }

    /// What the origin says of caching the image that a request has at first.
    func confirmed(_ refreshing: Refreshing, _ id: LiveRequest.ID) -> OriginCaching? {
        hits.confirmations.caching(
            refreshing.caching, of: requests[id].names.plainOriginal, refreshing.mark,
            at: calendarNow)
    }

    /// What a request is told that holds a stale image: that image, where it may have it. `nil`
    /// where the image was lost with the cache, and the request goes on to get it again.
    mutating func settled(_ outcome: Reply.Outcome, _ id: LiveRequest.ID) -> Reply.Outcome? {
        guard let refreshing = requests[id].refreshing, let held = refreshing.held,
            let failure = servesHeld(outcome, id, refreshing)
        else { return outcome }
        if let block = held.block, !deriver.dispatcher.contains(block.worker) {
            guard requests[id].deadline > now else { return outcome }
            requests[id].refreshing = nil
            loseAnswer(id)
            return nil
        }
        var image = held.image
        image.scaleFactor = requests[id].scaleFactor
        image.validity = told(refreshing.caching, refreshing.mark, of: requests[id].order)
        if failure.error != nil {
            image.validity = image.validity ?? Validity()
            image.validity?.originFailure = failure.error
        }
        if let block = held.block, requests[id].isAnswered {
            lend(&image, block, to: requests[id].client)
        }
        return .image(image)
    }

    /// Whether the held image is the answer, and after which failure; `nil` where it is not.
    private func servesHeld(
        _ outcome: Reply.Outcome, _ id: LiveRequest.ID, _ refreshing: Refreshing
    ) -> (error: ImageError?, Void)? {
        switch outcome {
        case .notModified: return (nil, ())
        case .failure(let error):
            let expiry = requests[id].order.terms.expiry(confirmed(refreshing, id))
            let mayServe = expiry?.mayServe(afterErrorAt: calendarNow) ?? false
            return mayServe && error.isOfOrigin ? (error, ()) : nil
        case .image, .miss: return nil
        }
    }

    // MARK: - What replies say

    /// What a reply says of how long its image may be used, where the request wants to know.
    func told(_ caching: OriginCaching?, _ mark: BodyMark, of order: Order) -> Validity? {
        guard order.image.wantsValidity else { return nil }
        return told(caching, mark, order.names, order.terms)
    }

    /// The same of an image under these names, on these terms.
    func told(
        _ caching: OriginCaching?, _ mark: BodyMark, _ names: RequestNames, _ terms: LoadTerms
    ) -> Validity? {
        Validity(
            telling: hits.confirmations.caching(
                caching, of: names.plainOriginal, mark, at: calendarNow), mark, terms)
    }
}

extension Validity {
    /// What a reply says; `nil` where that is nothing. Marks of our own are nobody's business, and
    /// neither is what the operator has ignored. What came for credentials is for who has them,
    /// unless its origin says otherwise (RFC 9111 §3.5).
    init?(telling caching: OriginCaching?, _ mark: BodyMark, _ terms: LoadTerms) {
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
    /// Whether its reply says how long the image may be used (SEMANTICS §6.9).
    var wantsValidity: Bool { options.contains(.respectCacheControl) || wantsExplanation }
}

extension ImageError {
    /// Whether it means that the origin could not be asked, or could not answer: what a gateway
    /// would tell by 500, 502, 503 or 504 (RFC 5861 §4).
    fileprivate var isOfOrigin: Bool {
        switch code {
        case .connectionFailed, .connectionBroken, .nameNotResolved, .timedOut, .shortBody,
            .protocolBroken, .deadlineExceeded:
            true
        case .invalidDownloadStatusCode:
            details["httpStatus"].flatMap { Int($0) }.map { $0 >= 500 } ?? false
        default: false
        }
    }
}

/// The image that a request has at first, while its origin is asked.
struct Refreshing: Sendable {
    /// The mark of the bytes that the image was made of.
    let mark: BodyMark
    /// Tiers that have it under the key of the request: what follows it replaces it there.
    let tiers: CacheTypes
    /// What its origin says of caching, as it was stored.
    let caching: OriginCaching?
    /// The image, where it was not delivered yet: it is stale, and what the origin says decides.
    var held: LiveRequest.Pending?
    /// Whether external caches were asked what they know of it.
    var hasAskedOthers = false
    /// Whether one of them has confirmed it, and the origin was not asked.
    var isConfirmedElsewhere = false
}

// refreshCached: the cached image at once, then what the origin says of it (SEMANTICS §6.1).
extension Scheduler {
    /// The cache has the image. A request that refreshes gets it now and goes on to the origin. For
    /// any other one this is the end.
    mutating func answerCached(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        _ cached: LiveRequest.CachedImage
    ) {
        if requests[id].plan.respectsCacheControl {
            return answer(id, image, block, asFarAsFresh: cached)
        }
        guard requests[id].plan.refreshes, requests[id].image.refusal(of: image.info) == nil
        else { return answer(id, image, block) }
        if requests[id].batch == nil { show(id, image, block, isRefreshing: true) }
        requests[id].refreshing = Refreshing(
            mark: cached.mark, tiers: cached.tiers, caching: cached.caching)
        deriver.leaveOverlays(id)
        requests[id].ways = requests[id].allWays
        requests[id].standing = .moving
        agenda.append(.onward(id))
    }
}

// An external cache may know that another machine has had an image confirmed by its origin: it is
// asked before the origin is (SEMANTICS §6.7).
extension Scheduler {
    /// Whether external caches are asked first. Overlays have no marks that could be confirmed.
    func asksOthers(_ id: LiveRequest.ID) -> Bool {
        guard deriver.layout.hasForeign, let refreshing = requests[id].refreshing else {
            return false
        }
        return requests[id].plan.respectsCacheControl && !refreshing.hasAskedOthers
            && refreshing.mark != .none && requests[id].order.terms.overlays.isEmpty
            && deriver.mayBeConfirmedElsewhere(requests[id].order)
    }

    /// Asks external caches what they know of the stale image that a request has; `false` if too
    /// much waits for them.
    mutating func askOthers(_ id: LiveRequest.ID) -> Bool {
        guard let refreshing = requests[id].refreshing else { return false }
        requests[id].refreshing?.hasAskedOthers = true
        let request = requests[id]
        let place = deriver.askValidity(
            request.waiter(id), of: refreshing.mark, confirmed(refreshing, id), request.urgency)
        guard let place else { return false }
        requests[id].standing = .waiting(place)
        takeEvents()
        return true
    }

    /// What external caches know of the image of a request: where it is fresh by that, the request
    /// has its answer. Otherwise the origin is asked.
    mutating func compare(_ id: LiveRequest.ID, with known: Validity?, _ timings: StageTimings) {
        requests[id].timings += timings
        guard let refreshing = requests[id].refreshing else {
            preconditionFailure("only who has a stale image asks")
        }
        if let caching = known?.caching, isNews(caching, refreshing, id) {
            let text = requests[id].names.plainOriginal
            hits.withdraw(
                .confirmed(
                    plainOriginal: text, refreshing.mark, Confirmation(told: caching)))
        }
        let caching = confirmed(refreshing, id)
        let expiry = requests[id].order.terms.expiry(caching)
        if FreshnessDecision(expiry, at: calendarNow) == .fresh {
            requests[id].refreshing?.isConfirmedElsewhere = true
            return reply(id, .notModified)
        }
        requests[id].ways = requests[id].allWays
        agenda.append(.onward(id))
    }

    /// Whether somebody asked the origin later than anybody here did. What comes from the future is
    /// not believed: the clock of that machine is ahead of ours.
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
