import Model

// Admission: checks whether a request may be started (SEMANTICS §2.1).
extension Scheduler {
    /// Admits a load. A load with the token of a live request of the same client is a resend of
    /// that request, whose reply is still pending.
    ///
    /// `upload` is held for the lifetime of the request. A member of a `batch` has neither its own
    /// token nor a reply. `isRepeatable` is that of `SchedulerEvent.load`.
    func admit(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, upload: Upload? = nil,
        in batch: PrefetchBatch? = nil, isRepeatable: Bool = false
    ) {
        guard let owner = clients[client] else { return }
        let live = batch == nil ? liveRequest(with: load.token) : nil
        if let live, attach(live, to: client, owner) { return }
        shared.counters.requests += 1
        // A load with an upload has ended the older load in its slot when it arrived, before its
        // bytes. A request that is in the slot now is newer than this one.
        if upload == nil, let slot = load.slot,
            !load.image.options.contains(.avoidAutoCancelImage)
        {
            endSlot(slot, of: client)
        }
        do throws(ImageError) {
            guard live == nil, batch != nil || prefetching.batches[load.token] == nil else {
                throw ImageError(.tokenInUse, "another request is using this token")
            }
            let (names, plan) = try prepare(load, terms, upload)
            if isRepeatable, let ticket = ticket(for: load, terms, plan, names) {
                return answerRepeatably(load, of: client, ticket)
            }
            if answerFromMemory(load, of: client, terms, plan, names, in: batch) { return }
            try load.image.checkEncoding(atMost: limits.workGraph.encodingCostMax)
            if batch == nil { try checkRoomForOneMore(of: owner) }
            let admitted = AdmittedRequest(
                load.image, terms, names, plan: plan, upload: upload,
                distrustsMemory: load.staleRetries > 0, logContext: load.logContext)
            enlist(load, of: client, owner, admitted, in: batch)
        } catch {
            if batch == nil, admitFallback(of: load, terms, from: client, owner, after: error) {
                return
            }
            shared.counters.ended(with: error)
            conclude(load, of: client, in: batch, .failure(error))
        }
    }

    /// Checks the request and derives its names and plan.
    func prepare(
        _ load: LoadRequest, _ terms: LoadTerms, _ upload: Upload? = nil
    ) throws(ImageError) -> (names: RequestNames, plan: LoadPlan) {
        try checkAdmission(of: load, terms)
        try upload?.check(terms.limits)
        try checkExternalWork(of: load.image)
        let names = try names(of: load.image, terms, upload)
        let plan = LoadPlan(load.image, terms, names, distrustsMemory: load.staleRetries > 0)
        return (names, plan)
    }

    /// Checks whether the request is permitted, regardless of the load.
    private func checkAdmission(
        of load: LoadRequest, _ terms: LoadTerms
    ) throws(ImageError) {
        guard !drain.isBegun else { throw Self.shuttingDown }
        try load.image.checkLoadOptions()
        try RequestContext.check(name: load.slot, "slot")
        if let refusal = terms.firstRefusal { throw refusal }
        try checkFailureCache(load.image, terms)
    }

    /// Throws if steps or formats that aren't built in aren't granted to any pool. Malformed steps
    /// are rejected earlier.
    func checkExternalWork(of image: ImageRequest) throws(ImageError) {
        let pools = limits.dispatch.pools
        for case .custom(let step) in image.steps
        where step.isValid && !pools.areGranted(step: step.name) {
            throw step.notGranted
        }
        guard let format = image.output.format, !format.isEncodable else { return }
        guard pools.areGranted(output: format) else { throw .encodedByNobody(format) }
    }

    /// Completes a request that was not enlisted.
    private func conclude(
        _ load: LoadRequest, of client: ClientID, in batch: PrefetchBatch?,
        _ outcome: Reply.Outcome
    ) {
        if let batch { return memberEnded(batch, load.image.url, outcome) }
        answerAtOnce(load, of: client, outcome)
    }

    /// Answers a load with a ticket that the caller may keep. It gets a voucher at the first
    /// request: a client that cycles through many images may find each memo replaced when it asks
    /// again.
    private func answerRepeatably(
        _ load: LoadRequest, of client: ClientID, _ ticket: HitTicket
    ) {
        var ticket = ticket
        hits.vouch(for: &ticket)
        use(ticket)
        shared.actions.append(.granted(ticket))
        conclude(load, of: client, in: nil, .image(ticket.image))
    }

    /// Answers a request from the hit index, if possible, before it has any cost.
    private func answerFromMemory(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ plan: LoadPlan,
        _ names: RequestNames, in batch: PrefetchBatch?
    ) -> Bool {
        guard let (entry, block) = claimHit(terms, plan, names) else { return false }
        var delivered = entry.delivered(for: load.image, names)
        if load.image.wantsValidity, let validity = entry.origin?.validity {
            delivered.validity = reportedValidity(
                validity.caching, BodyMark(validity), names, terms)
        }
        delivered.explanation = Explanation(load.image, plan, delivered)
        if batch == nil { lend(&delivered, block, to: client) }
        conclude(load, of: client, in: batch, .image(delivered))
        return true
    }

    static let shuttingDown = ImageError(.shuttingDown, "the stack is shutting down")
}

// Live requests and the lists that contain them.
extension Scheduler {
    /// Throws if the limits on live requests are reached.
    func checkRoomForOneMore(of client: LiveClient) throws(ImageError) {
        guard requests.count < limits.liveRequestsMax else {
            throw ImageError.busy("too many requests are waiting for a reply")
        }
        guard client.requests.count < limits.requestsPerClientMax else {
            throw ImageError.busy("too many requests of this client are waiting for a reply")
        }
    }

    /// Adds a live request, which enters its first stage before the event is over.
    @discardableResult
    func enlist(
        _ load: LoadRequest, of client: ClientID, _ owner: LiveClient, _ admitted: AdmittedRequest,
        in batch: PrefetchBatch? = nil
    ) -> LiveRequest.ID {
        let upload = admitted.upload
        if let upload { dispatcher.hold(upload.block) }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        let id = requests.insert(
            LiveRequest(
                owner: owner.incarnation, isDetached: batch == nil && load.goesOnAlone,
                token: load.token, group: load.group, slot: load.slot, httpClient: load.httpClient,
                batch: batch, wantedNotifications: batch == nil ? load.interests : [],
                admittedAt: now, deadline: deadline, client: client, share: owner.share,
                admitted: admitted, priority: load.image.priority,
                remainingStages: admitted.plan.remainingStages))
        if let batch {
            requests[id].seat = batch.members.join(id)
        } else {
            tokens[load.token] = id
            assignSeat(id, of: owner, isOlder: upload != nil)
        }
        deadlines.set(id, at: deadline)
        pendingTransitions.moving.append(.onward(id))
        return id
    }

    /// Attaches a detached live request to the next session of the same client.
    func attach(
        _ id: LiveRequest.ID, to client: ClientID, _ owner: LiveClient
    ) -> Bool {
        if requests[id].client == client { return true }
        guard clients[requests[id].client] == nil, requests[id].owner == owner.incarnation
        else {
            return false
        }
        requests[id].client = client
        requests[id].share = owner.share
        assignSeat(id, of: owner, isOlder: true)
        return true
    }

    /// Adds the request to its client. If it `isOlder`, a newer load keeps the slot.
    private func assignSeat(_ id: LiveRequest.ID, of client: LiveClient, isOlder: Bool) {
        if let slot = requests[id].slot { client.assign(slot, for: id, isOlder: isOlder) }
        (requests[id].seat, requests[id].groupSeat) = client.join(id, group: requests[id].group)
    }
}

extension LoadRequest {
    /// Whether it continues after its client has left (SEMANTICS §8.5).
    fileprivate var goesOnAlone: Bool { detach || image.options.contains(.continueInBackground) }

    /// Notifications wanted before the image is complete.
    fileprivate var interests: Subscriber.Interests {
        var interests: Subscriber.Interests = []
        if wantsProgress { interests.insert(.progress) }
        if wantsInfo { interests.insert(.info) }
        if image.options.contains(.progressiveLoad), !image.infoOnly { interests.insert(.partials) }
        return interests
    }
}

// A slot identifies the purpose of an image, such as an image view on a page, and has one current
// load (SEMANTICS §8.7).
extension Scheduler {
    /// Ends the older load in the slot of a new load, even if the new load is refused. The older
    /// load's reply is sent first.
    func endSlot(_ slot: String, of client: ClientID) {
        if let id = clients[client]?.slots[slot] { end(id, Self.cancelled) }
    }
}

// Hits complete a request before it has any cost.
extension Scheduler {
    /// Returns the entry in memory that may answer the request. Counts it as a hit and as used.
    func claimHit(
        _ terms: LoadTerms, _ plan: LoadPlan, _ names: RequestNames
    ) -> (entry: HitIndex.Entry, block: BlockHandle)? {
        guard plan.mayComeFromMemory, let cache, let entry = hits.entry(for: names.result, at: now),
            !plan.respectsCacheControl || isFresh(entry, terms, names)
        else { return nil }
        shared.counters.memoryHits += 1
        hits.touches.add(entry.reference.block, at: now)
        return (entry, BlockHandle(worker: cache, block: entry.reference.block))
    }
}

/// A request that starts some time after the message that caused it. It is resolved when it starts,
/// with the configuration at that time. Until then it costs no more than its text.
enum LateRequest: Hashable, Sendable {
    /// A URL of a prefetch.
    case prefetched
    /// The fallback of an unavailable image.
    case fallback
}

/// Resolves such a request to its final form and terms, including its identity. If it isn't
/// permitted, the terms contain the refusal.
typealias LateResolution = @Sendable (ImageRequest, LateRequest) -> Resolution

extension LoadTerms {
    /// The reason why the configuration doesn't permit the request or one of its overlays. The
    /// current configuration applies, even to images made under an earlier one.
    var firstRefusal: ImageError? {
        if let refusal { return refusal }
        for overlay in overlays {
            guard let refusal = overlay.terms.refusal else { continue }
            return ImageError.overlay(refusal, url: overlay.request.url)
        }
        return nil
    }
}

// Uploads: images whose source is available before admission.
extension Scheduler {
    /// The URL scheme of uploads, followed by the digest of the bytes. Such URLs can't be fetched.
    package static let uploadScheme = "upload"

    /// Admits an upload. Its block is released once the request and all work that reads it have
    /// ended.
    func admitUpload(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms,
        _ reference: BlockReference, _ format: ImageFormat?
    ) {
        guard let upload = acceptUpload(reference, format, of: load, client) else { return }
        guard load.image.context.extendedData == nil else {
            dispatcher.drop(upload.block)
            return refuse(load, of: client, .extendedDataOfNothing)
        }
        var load = load
        // The original isn't stored, because every request for these bytes uploads them again.
        load.image.originalQueryCacheTypes = .none
        load.image.originalStoreCacheTypes = .none
        admit(load, of: client, terms, upload: upload)
        dispatcher.drop(upload.block)
    }

    /// Takes the uploaded bytes into use.
    func acceptUpload(
        _ reference: BlockReference, _ format: ImageFormat?, of load: LoadRequest,
        _ client: ClientID
    ) -> Upload? {
        do throws(ImageError) {
            return try dispatcher.acceptUpload(reference, as: format)
        } catch {
            refuse(load, of: client, error)
            return nil
        }
    }

    /// Refuses a load. A resend of a live request isn't answered, because its reply is still
    /// pending.
    func refuse(_ load: LoadRequest, of client: ClientID, _ error: ImageError) {
        if !hasLive(load.token, of: client) { answerAtOnce(load, of: client, .failure(error)) }
    }

    /// Whether a request of that client with this token has no terminal reply yet.
    func hasLive(_ token: Token, of client: ClientID) -> Bool {
        tokens[token].map { requests[$0].client == client } ?? false
    }
}

extension Upload {
    /// Throws if the upload is larger than the configuration permits.
    func check(_ limits: LimitSettings) throws(ImageError) {
        guard let limit = limits[.body], reference.length > UInt64(limit) else { return }
        throw ImageError(
            .limitExceeded,
            "the image has \(reference.length) bytes, but the configuration limits "
                + "\(LimitSetting.body.rawValue) to \(limit)"
        ) {
            $0.limit = "\(limit)"
            $0.value = Int(clamping: reference.length)
            $0.permitted = limit
            $0.setting = LimitSetting.body.rawValue
        }
    }
}

// Puts: bytes that an operator stores in a cache (SEMANTICS §5.7).
extension Scheduler {
    /// Admits a put. The header is read so that only images are stored. The bytes are stored like a
    /// fetched original: as they are, or as the profile's serializer encodes them. The reply
    /// contains the tiers that have stored them.
    func admitPut(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ reference: BlockReference,
        _ format: ImageFormat?
    ) {
        guard var upload = acceptUpload(reference, format, of: load, client) else { return }
        defer { dispatcher.drop(upload.block) }
        do throws(ImageError) {
            let image = try Self.request(putting: load)
            guard case .text(let key) = load.image.context.key else { throw Self.noKey }
            let text = try Self.storedText(of: key, in: terms.cache)
            try workGraph.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            upload.key = key
            upload.extendedData = load.image.context.extendedData
            var (load, terms) = (load, terms)
            load.image = image
            // A put must store exactly these bytes or fail.
            terms.fallback = .none
            terms.mayDownload = true
            // A resent put is the one in progress.
            if !hasLive(load.token, of: client) {
                workGraph.endTranscodes(of: text, for: image.storeCacheTypes)
                handleEvents()
            }
            admit(load, of: client, terms, upload: upload)
        } catch {
            refuse(load, of: client, error)
        }
    }

    /// Returns the request for a put. The operator chooses only the key and the tiers. Each put has
    /// a unique source because the same bytes may be put under several keys at once.
    private static func request(putting load: LoadRequest) throws(ImageError) -> ImageRequest {
        let asked = load.image
        guard asked.infoOnly, !asked.wantsProperties, asked.wantsOriginal, asked.headers.isEmpty,
            !asked.storeCacheTypes.isEmpty
        else {
            throw ImageError(
                .invalidRequest,
                "a put stores bytes unchanged: specify tiers, but no steps or output")
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

    /// The error for a put that no tier stored.
    static let notKept = ImageError(
        .arenaFull, "no cache tier stored the bytes: the requested tiers are full or don't exist")
}
