import Derivation
import Dispatching
public import ImageModel
public import Messages
import Tables

// admit: is this a request that may be made now? (SEMANTICS §2.1)
extension Scheduler {
    /// A load that names a live token of the same client is the same request, resent: its reply is
    /// still to come.
    ///
    /// `upload` is held for as long as the request lives. A member of a `batch` has no token of its
    /// own, and no reply.
    mutating func admit(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, upload: Upload? = nil,
        in batch: PrefetchBatch.ID? = nil
    ) {
        guard let owner = clients[client]?.incarnation else { return }
        if batch == nil { freeToken(load.token) }
        let live = batch == nil ? tokens[load.token] : nil
        if let live, attach(live, to: client, owner) { return }
        figures.counters.requests += 1
        // The slot of an upload was left when its load came; what is there now is newer.
        if upload == nil { supersede(by: load, of: client) }
        do throws(ImageError) {
            guard live == nil, batch != nil || prefetching.tokens[load.token] == nil else {
                throw ImageError(.tokenInUse, "another request has this token")
            }
            try checkAdmission(of: load, terms)
            try upload?.check(terms.limits)
            try checkForeignWork(of: load.image)
            let names = try names(of: load.image, terms, upload)
            let plan = JobPlan(load, terms, names)
            if answerFromMemory(load, of: client, terms, plan, names, in: batch) { return }
            try load.image.checkEncoding(atMost: limits.derivation.encodingCostMax)
            if batch == nil { try checkRoomForOneMore(of: client) }
            let order = Order(
                load.image, terms, names, plan: plan, upload: upload,
                distrustsMemory: load.staleRetries > 0, logContext: load.logContext)
            enlist(load, of: client, owner, order, in: batch)
        } catch {
            if batch == nil, admitFallback(of: load, terms, from: client, owner, after: error) {
                return
            }
            figures.counters.ended(with: error)
            conclude(load, of: client, in: batch, .failure(error))
        }
    }

    /// Whether the request may be made, however much there is to do.
    private mutating func checkAdmission(
        of load: LoadRequest, _ terms: LoadTerms
    ) throws(ImageError) {
        guard !drain.isBegun else { throw Self.shuttingDown }
        try load.image.checkWishes()
        try load.checkSlot()
        if let refusal = terms.firstRefusal { throw refusal }
        try checkBlacklist(load.image, terms)
    }

    /// Steps and formats that are none of ours are for pools which are granted them; what is no
    /// step at all was said before.
    func checkForeignWork(of image: ImageRequest) throws(ImageError) {
        let pools = limits.dispatch.pools
        for case .custom(let step) in image.steps
        where step.isValid && !pools.areGranted(step: step.name) {
            throw step.notGranted
        }
        guard let format = image.output.format, !format.isEncodable else { return }
        guard pools.areGranted(output: format) else { throw .encodedByNobody(format) }
    }

    /// A request that never became one ends at once.
    private mutating func conclude(
        _ load: LoadRequest, of client: ClientID, in batch: PrefetchBatch.ID?,
        _ outcome: Reply.Outcome
    ) {
        if let batch { return memberEnded(batch, load.image.url, outcome) }
        answerAtOnce(load, of: client, outcome)
    }

    /// A hit in the index ends a request before it has cost anything.
    private mutating func answerFromMemory(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ plan: JobPlan,
        _ names: RequestNames, in batch: PrefetchBatch.ID?
    ) -> Bool {
        guard let (entry, block) = takeHit(terms, plan, names) else { return false }
        var delivered = entry.delivered(for: load.image, names)
        if load.image.wantsValidity, let validity = entry.origin?.validity {
            delivered.validity = told(validity.caching, BodyMark(validity), names, terms)
        }
        delivered.explanation = Explanation(load.image, plan, delivered)
        if batch == nil { lend(&delivered, block, to: client) }
        conclude(load, of: client, in: batch, .image(delivered))
        return true
    }

    static let shuttingDown = ImageError(.shuttingDown, "the stack is shutting down")
}

// Requests that were admitted, and the lists that know them.
extension Scheduler {
    /// Throws where one more request would be too many.
    func checkRoomForOneMore(of client: ClientID) throws(ImageError) {
        guard requests.count < limits.liveRequestsMax else {
            throw ImageError.busy("too many requests wait for a reply")
        }
        guard clients[client].map({ $0.requests.count < limits.requestsPerClientMax }) == true
        else { throw ImageError.busy("too many requests of this client wait for a reply") }
    }

    /// A request is live from now on, and goes its first way before the event is over.
    @discardableResult
    mutating func enlist(
        _ load: LoadRequest, of client: ClientID, _ owner: Incarnation, _ order: Order,
        in batch: PrefetchBatch.ID? = nil
    ) -> LiveRequest.ID {
        let upload = order.upload
        if let upload { deriver.hold(upload.block) }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        let id = requests.insert(
            LiveRequest(
                facts: LiveRequest.Facts(
                    owner: owner, isDetached: batch == nil && load.goesOnAlone, token: load.token,
                    group: load.group, slot: load.slot, visitor: load.visitor, batch: batch,
                    wishes: batch == nil ? load.wishes : [], admittedAt: now, deadline: deadline),
                client: client, share: clients[client]?.share ?? .session(client), order: order,
                priority: load.image.priority, ways: order.plan.ways))
        if let batch {
            requests[id].seats.seat = prefetching.join(id, batch)
        } else {
            tokens[load.token] = id
            takeSeat(id, isOlder: upload != nil)
        }
        deadlines.set(deadline, for: id)
        agenda.append(.onward(id))
        return id
    }

    /// A live request that was detached goes on for the next session of the same client.
    mutating func attach(
        _ id: LiveRequest.ID, to client: ClientID, _ owner: Incarnation
    ) -> Bool {
        if requests[id].client == client { return true }
        guard clients[requests[id].client] == nil, requests[id].owner == owner else {
            return false
        }
        requests[id].client = client
        requests[id].share = clients[client]?.share ?? .session(client)
        takeSeat(id, isOlder: true)
        return true
    }

    /// If the request `isOlder`, a newer load stays in the slot.
    private mutating func takeSeat(_ id: LiveRequest.ID, isOlder: Bool) {
        let (client, group) = (requests[id].client, requests[id].group)
        let slot = requests[id].slot
        let seats = clients.change(client) {
            if let slot { $0.take(slot, for: id, isOlder: isOlder) }
            return $0.join(id, group: group)
        }
        if let seats { requests[id].seats = seats }
    }
}

extension LoadRequest {
    /// Whether it goes on when its client is gone (SEMANTICS §8.5).
    fileprivate var goesOnAlone: Bool { detach || image.options.contains(.continueInBackground) }

    /// What its client is told before the image is whole.
    fileprivate var wishes: Waiter.Wishes {
        var wishes: Waiter.Wishes = []
        if wantsProgress { wishes.insert(.progress) }
        if wantsInfo { wishes.insert(.info) }
        if image.options.contains(.progressiveLoad), !image.infoOnly { wishes.insert(.partials) }
        return wishes
    }
}

// A slot names what an image is for, such as a place on a page. It wants one image at a time
// (SEMANTICS §8.7).
extension Scheduler {
    /// A load into a slot ends the older load there, unless it says otherwise. It does so whatever
    /// becomes of itself. Its reply comes after that of the older one.
    mutating func supersede(by load: LoadRequest, of client: ClientID) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        endSlot(slot, of: client)
    }

    /// Ends the request of a slot.
    mutating func endSlot(_ slot: String, of client: ClientID) {
        if let id = clients[client]?.slots[slot] { end(id, Self.cancelled) }
    }
}

extension LoadRequest {
    /// Throws what is wrong with the name of the slot.
    func checkSlot() throws(ImageError) {
        try RequestContext.check(name: slot, "slot")
    }
}

// A hit ends a request before it has cost anything.
extension Scheduler {
    /// The answer of memory, if the request may be answered from there. It counts as a hit, and as
    /// used.
    mutating func takeHit(
        _ terms: LoadTerms, _ plan: JobPlan, _ names: RequestNames
    ) -> (entry: HitIndex.Entry, block: BlockHandle)? {
        guard plan.mayComeFromMemory, let cache, let entry = hits.entry(for: names.result, at: now),
            !plan.respectsCacheControl || isFresh(entry, terms, names)
        else { return nil }
        figures.counters.memoryHits += 1
        hits.touch(entry.reference.block, at: now)
        return (entry, BlockHandle(worker: cache, block: entry.reference.block))
    }
}

/// A request that begins some time after the message that asked for it. It is resolved when it
/// begins, by the configuration of that moment. Until then it costs no more than its text.
public enum LateRequest: Hashable, Sendable {
    /// A URL of a prefetch.
    case prefetched
    /// What takes the place of an image that cannot be had.
    case fallback
}

/// What such a request becomes, and on what terms, identity included. Where it may not be made, the
/// terms say why.
public typealias LateResolution = @Sendable (ImageRequest, LateRequest) -> Resolution

extension LoadTerms {
    /// Why the configuration does not permit the request, or one of its overlays. The configuration
    /// of now counts, also for images that were made under an earlier one.
    var firstRefusal: ImageError? {
        if let refusal { return refusal }
        for overlay in overlays {
            guard let refusal = overlay.terms.refusal else { continue }
            return ImageError.overlay(refusal, url: overlay.request.url)
        }
        return nil
    }
}

// An image without a URL: its source is there before it is admitted.
extension Scheduler {
    /// The scheme of the names that uploads have instead of a URL, followed by the digest of the
    /// bytes; nothing can be fetched by such a name.
    public static let uploadScheme = "upload"

    /// The block is free again once the request, and all work that reads it, have ended.
    mutating func admitUpload(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms,
        _ reference: BlockReference, _ format: ImageFormat?
    ) {
        guard let upload = takeUpload(reference, format, of: load, client) else { return }
        guard load.image.context.extendedData == nil else {
            drop(upload.block)
            return refuse(load, of: client, .extendedDataOfNothing)
        }
        var load = load
        // A request for these bytes always brings them along: their original is not kept.
        load.image.originalQueryCacheTypes = .none
        load.image.originalStoreCacheTypes = .none
        admit(load, of: client, terms, upload: upload)
        drop(upload.block)
    }

    /// Bytes that came along, in use from now on.
    mutating func takeUpload(
        _ reference: BlockReference, _ format: ImageFormat?, of load: LoadRequest,
        _ client: ClientID
    ) -> Upload? {
        do throws(ImageError) {
            return try deriver.takeUpload(reference, as: format)
        } catch {
            refuse(load, of: client, error)
            return nil
        }
    }

    /// Answers a load that cannot be admitted. A live load that was sent again is not answered: its
    /// reply is still to come.
    mutating func refuse(_ load: LoadRequest, of client: ClientID, _ error: ImageError) {
        if !hasLive(load.token, of: client) { answerAtOnce(load, of: client, .failure(error)) }
    }

    /// Whether a request of that client under this token has no terminal reply yet.
    public func hasLive(_ token: Token, of client: ClientID) -> Bool {
        tokens[token].map { requests[$0].client == client } ?? false
    }
}

extension Upload {
    /// Refuses bytes that are more than the configuration permits.
    func check(_ limits: LimitSettings) throws(ImageError) {
        guard let limit = limits[.body], reference.length > UInt64(limit) else { return }
        throw ImageError(
            .limitExceeded,
            "the image has \(reference.length) bytes, and \(LimitSetting.body.rawValue) of the "
                + "configuration permits \(limit)",
            details: [
                "limit": "\(limit)", "value": "\(reference.length)", "permitted": "\(limit)",
                "setting": LimitSetting.body.rawValue,
            ])
    }
}

// Bytes that an operator puts into a cache (SEMANTICS §5.7).
extension Scheduler {
    /// Reads the header of the bytes, so that only images are kept. Stores them like a fetched
    /// original: as they are, or as the profile's serializer makes them. The reply says which tiers
    /// have them.
    mutating func admitPut(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ reference: BlockReference,
        _ format: ImageFormat?
    ) {
        guard var upload = takeUpload(reference, format, of: load, client) else { return }
        defer { drop(upload.block) }
        do throws(ImageError) {
            let image = try Self.request(putting: load)
            guard case .text(let key) = load.image.context.key else { throw Self.noKey }
            let text = try Self.storedText(of: key, in: terms.cache)
            try deriver.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            upload.key = key
            upload.extendedData = load.image.context.extendedData
            var (load, terms) = (load, terms)
            load.image = image
            // An operator wants these bytes under the key, or to hear why not.
            terms.fallback = .none
            terms.mayDownload = true
            // A put that is sent again is the one that is under way.
            if !hasLive(load.token, of: client) {
                deriver.endTranscodes(of: text, for: image.storeCacheTypes)
                takeEvents()
            }
            admit(load, of: client, terms, upload: upload)
        } catch {
            refuse(load, of: client, error)
        }
    }

    /// The operator chooses only the name of the bytes and their tiers. Each put is a source of its
    /// own: the same bytes may be put under several keys at once.
    private static func request(putting load: LoadRequest) throws(ImageError) -> ImageRequest {
        let asked = load.image
        guard asked.infoOnly, !asked.wantsFacts, asked.wantsOriginal, asked.headers.isEmpty,
            !asked.storeCacheTypes.isEmpty
        else {
            throw ImageError(
                .invalidRequest, "bytes are put into some tier, as they are: no steps, no output")
        }
        var image = ImageRequest(url: "\(asked.url)?\(load.token.value.hex)")
        image.infoOnly = true
        image.options = [.fromLoaderOnly, .waitStoreCache]
        image.priority = asked.priority
        image.storeCacheTypes = asked.storeCacheTypes
        image.originalStoreCacheTypes = .none
        image.timeoutMilliseconds = asked.timeoutMilliseconds
        return image
    }

    /// What the operator is told where no tier took the bytes.
    static let notKept = ImageError(
        .arenaFull, "no tier took the bytes: there is no room for them, or no such tier")
}
