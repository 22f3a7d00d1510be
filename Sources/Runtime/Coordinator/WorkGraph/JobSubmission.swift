import Model

// Submitting and abandoning jobs.
extension WorkGraph {
    /// Submits a new job at the end of its queue. The job holds the blocks that it reads. `spec` is
    /// the specification if it exists.
    func submit(
        _ work: JobWork, _ spec: JobSpec? = nil, for purpose: JobPurpose,
        reading input: BlockHandle?, beside overlays: [BlockHandle] = [], _ urgency: Urgency,
        suspect: Suspect? = nil, maker: Suspect? = nil
    ) -> JobID {
        let spec = spec ?? JobSpec(layout.isEmpty ? work : layout.expanded(work))
        var submission = Submission(spec, urgency)
        submission.input = input
        submission.overlays = overlays
        submission.rank = purpose.rank(spec.kind)
        submission.suspect = suspect
        submission.maker = maker
        submission.logContext = logContext(of: purpose)
        submission.waitsForSpace = purpose.waitsForSpace
        switch purpose {
        // A restarted transfer keeps the interests of its subscribers.
        case .source(let node):
            submission.wantsProgress = sources[node].hasListeners
            submission.wantsArrived = sources[node].early.isWanted
        case .decode(let node): submission.coders = decodes[node].name.key.coders
        case .transform(let node): submission.isExternal = results[node].chain?.isExternal ?? false
        case .partial(let node):
            submission.isExpendable = true
            submission.coders = results[partials[node].result].name.key.decode.coders
        default: break
        }
        let id = giveOut(submission)
        purposes[id] = purpose
        if layout.promotes, spec.kind == .cache {
            changes.began(id, spec.work)
            voidPromotions(by: spec.work)
        }
        return id
    }

    private func giveOut(_ submission: Submission) -> JobID {
        guard submission.spec.kind == .cache, let parts = layout.parts(of: submission.spec.work)
        else { return dispatcher.submit(submission) }
        return beginCompositeJob(submission, parts).id
    }

    /// Returns the log context of the subscriber that started the work.
    private func logContext(of purpose: JobPurpose) -> LogContext {
        switch purpose {
        case .lookup(let node): lookups[node].logContext
        case .validity(let node): validities[node].logContext
        case .source(let node), .original(let node), .comparing(let node):
            sources[node].logContext
        case .transcode(let node): transcodes[node].logContext
        case .partial(let node): results[partials[node].result].request.logContext
        case .decode(let node): decodes[node].logContext
        case .transform(let node), .delivery(let node): results[node].request.logContext
        case .inquiry, .removal, .renewal: LogContext()
        }
    }

    /// Abandons a job whose outcome is no longer wanted.
    func abandon(_ id: JobID) {
        purposes[id] = nil
        changes.ended(id)
        guard let job = compositeJobs.jobs[id] else { return dispatcher.abandon(id) }
        abandonCompositeJob(job)
    }
}

/// The purpose of a job's outcome.
enum JobPurpose: Sendable {
    case lookup(LookupNode.ID)
    /// A query to external caches for the freshness of an image.
    case validity(ValidityNode.ID)
    case source(SourceNode.ID)
    case original(SourceNode.ID)
    /// A serialization or its store.
    case transcode(TranscodeNode.ID)
    case decode(DecodeNode.ID)
    case transform(ResultNode.ID)
    case delivery(ResultNode.ID)
    /// A partial image from the data received so far.
    case partial(PartialNode.ID)
    /// An operator's query or removal of cache entries.
    indirect case inquiry(EntryWork)
    /// Removal of an entry that a refresh found outdated and no store replaces; first or second
    /// attempt.
    indirect case removal(EntryWork, isRepeated: Bool)
    /// Notification of the cache that the origin revalidated the entry with this text.
    case renewal(String)
    /// Comparison of a refreshed body with the stored one.
    case comparing(SourceNode.ID)

    /// The rank within a class and worker kind: jobs that complete a request come before those that
    /// start one, and jobs without a waiting reply come last.
    func rank(_ kind: WorkerKind) -> UInt8 {
        switch self {
        case .delivery, .comparing, .removal: 0
        // Work restarted because of a removal queries the cache after it.
        case .inquiry(let work) where work.action.removes: 0
        case .original, .renewal: 1
        case .transcode: kind == .cache ? 1 : 3
        case .partial: 3
        case .lookup, .validity, .source, .decode, .transform, .inquiry: 2
        }
    }

    /// Whether the job may wait for space; jobs without a waiting reply don't.
    var waitsForSpace: Bool {
        switch self {
        case .original, .comparing, .transcode, .removal, .renewal, .partial: false
        case .lookup, .validity, .source, .decode, .transform, .delivery, .inquiry: true
        }
    }
}

extension StageTimings {
    /// Adds timings per stage; the total belongs to the request alone.
    static func += (left: inout StageTimings, right: StageTimings) {
        left.queue += right.queue
        left.query += right.query
        left.fetch += right.fetch
        left.decode += right.decode
        left.transform += right.transform
        left.store += right.store
    }

    /// Adds the times of a finished job.
    mutating func add(_ job: Completion.Ended) {
        queue += job.waited
        switch job.stage {
        case .query: query += job.worked
        case .fetch: fetch += job.worked
        case .decode: decode += job.worked
        case .transform: transform += job.worked
        case .store: store += job.worked
        }
    }
}

// The transform job of a result.
extension WorkGraph {
    /// Returns the transform of a result or of one of its links. Its cost may exceed the limit.
    func transformWork(
        of node: ResultNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        over overlays: [DecodeNode.Pixels], linkOf chain: StepChain? = nil
    ) -> TransformWork {
        let key = results[node].name.key
        let whole = TransformWork(
            frame, info, key.steps, over: overlays, key.output,
            limits.image.narrowed(by: key.decode.limits))
        // A format is accepted by the output size, which depends on the steps of this link.
        return (chain?.link(of: whole) ?? whole).accepting(atMost: limits.encodingCostMax)
    }
}

extension TransformWork {
    /// Creates the work for steps and encode, with overlays.
    init(
        _ frame: DecodedImage.Frame, _ info: ImageInfo, _ steps: [TransformStep],
        over overlays: [DecodeNode.Pixels], _ output: OutputOptions, _ limits: ImageLimits
    ) {
        self.init(
            source: frame.reference, layout: frame.layout, sourceInfo: info,
            steps: steps.map(\.forJobs), output: output, limits: limits,
            overlays: overlays.map {
                OverlayInput(
                    source: $0.frame.reference, layout: $0.frame.layout, info: $0.info)
            })
    }
}

// Requests that would start work in an overloaded stage are refused at once, with a retry time
// (SEMANTICS §9.3). Requests that join work in flight are never refused.
extension WorkGraph {
    /// Returns the error if a result can't be started because a required stage is over its limit or
    /// the work is quarantined.
    func refusal(toMake name: ResultName, of request: AdmittedRequest) -> ImageError? {
        if request.plan.includes(.transform), let error = dispatcher.refusal(in: .transform) {
            return error
        }
        if request.plan.includes(.deliver), let error = dispatcher.refusal(in: .store) {
            return error
        }
        if request.canvas == nil, let error = refusal(toDecode: name.decode, of: request) {
            return error
        }
        return isPoisoned(name) ? Dispatcher.poisoned : nil
    }

    /// Returns the error if a decode can't be started.
    func refusal(toDecode name: DecodeName, of request: AdmittedRequest) -> ImageError? {
        guard decodes.first(under: name) == nil else { return nil }
        if let error = dispatcher.refusal(in: .decode) { return error }
        guard request.upload == nil, sources.serving(name.key.source, name.origin) == nil else {
            return nil
        }
        return dispatcher.refusal(in: name.origin.isFetched ? .fetch : .query)
    }
}

// Quarantined work (SEMANTICS §7.5).
extension WorkGraph {
    /// Whether making the result would require quarantined work.
    func isPoisoned(_ name: ResultName) -> Bool {
        isPoisoned(name.decode) || dispatcher.isQuarantined(.transform(name.key))
    }

    /// Whether making the pixels would require quarantined work.
    func isPoisoned(_ name: DecodeName) -> Bool {
        let source = name.key.source
        if dispatcher.isQuarantined(.decode(source)) { return true }
        if dispatcher.isQuarantined(.drawing(source, name.key.need)) { return true }
        return name.origin.isFetched && dispatcher.isQuarantined(.fetch(source))
    }

    /// Whether a partial image is skipped because such work has crashed a worker: the whole image
    /// suffices to find out whether it does so again.
    func isSuspected(_ suspect: Suspect, for name: ResultName) -> Bool {
        dispatcher.isSuspected(suspect) || dispatcher.isSuspected(.transform(name.key))
    }

    /// Returns the suspect for a decode of a source's bytes.
    func suspect(
        _ node: SourceNode.ID, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let key = sources[node].key
        if case .cache(let query) = sources[node].origin,
            dispatcher.isExternalCache(block.worker) || layout.mayHavePromoted(query.key)
        {
            return .kept(key, text: query.key)
        }
        return suspect(key, need, in: block)
    }

    /// Returns the suspect for a decode of the source's own bytes.
    func suspect(
        _ source: SourceKey, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let format = dispatcher.format(of: block)
        return format?.traits.isDrawn == true ? .drawing(source, need) : .decode(source)
    }
}
