import Derivation
import Dispatching
import ImageModel
import Messages
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
