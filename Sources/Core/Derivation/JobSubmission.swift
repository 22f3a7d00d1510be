import Dispatching
import ImageModel
package import Messages
import Tables

// Work that is given to the dispatcher, and taken back.
extension Deriver {
    /// A new job, at the end of its queue. It holds the blocks that it reads.
    mutating func submit(
        _ work: JobWork, for purpose: JobPurpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil,
        maker: Suspect? = nil
    ) -> JobID {
        submit(
            JobSpec(layout.isEmpty ? work : layout.expanded(work)), for: purpose, reading: input,
            beside: overlays, urgency,
            suspect: suspect, maker: maker)
    }

    /// The same again.
    mutating func submit(
        _ spec: JobSpec, for purpose: JobPurpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil,
        maker: Suspect? = nil
    ) -> JobID {
        var submission = Submission(spec, urgency)
        submission.input = input
        submission.overlays = overlays
        submission.rank = purpose.rank(spec.kind)
        submission.suspect = suspect
        submission.maker = maker
        submission.logContext = logContext(of: purpose)
        submission.waitsForSpace = purpose.waitsForSpace
        switch purpose {
        // It is begun again for those who listened and looked.
        case .source(let node):
            submission.wantsProgress = sources[node].hasListeners
            submission.wantsArrived = sources[node].early.isWanted
        case .decode(let node): submission.coders = decodes[node].name.key.coders
        case .transform(let node): submission.isForeign = results[node].chain?.isForeign ?? false
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

    private mutating func giveOut(_ submission: Submission) -> JobID {
        guard submission.spec.kind == .cache, let parts = layout.parts(of: submission.spec.work)
        else { return dispatcher.submit(submission) }
        return beginErrand(submission, parts)
    }

    /// What logs say of the waiter that began the work.
    private func logContext(of purpose: JobPurpose) -> LogContext {
        switch purpose {
        case .lookup(let node): lookups[node].logContext
        case .validity(let node): validities[node].logContext
        case .source(let node), .original(let node), .comparing(let node):
            sources[node].logContext
        case .transcode(let node): transcodes[node].logContext
        case .partial(let node): results[partials[node].result].order.logContext
        case .decode(let node): decodes[node].logContext
        case .transform(let node), .delivery(let node): results[node].order.logContext
        case .inquiry, .removal, .renewal: LogContext()
        }
    }

    /// Nobody wants the outcome any more.
    mutating func abandon(_ id: JobID) {
        purposes[id] = nil
        changes.ended(id)
        if errands.contains(id) { abandonErrand(id) } else { dispatcher.abandon(id) }
    }
}

/// What the outcome of a job is for.
enum JobPurpose: Sendable {
    case lookup(LookupNode.ID)
    /// What external caches know of the freshness of an image.
    case validity(ValidityNode.ID)
    case source(SourceNode.ID)
    case original(SourceNode.ID)
    /// What a serializer makes, and its store.
    case transcode(TranscodeNode.ID)
    case decode(DecodeNode.ID)
    case transform(ResultNode.ID)
    case delivery(ResultNode.ID)
    /// An image of what has arrived so far.
    case partial(PartialNode.ID)
    /// An operator asks about entries of the cache, or removes some.
    indirect case inquiry(EntryWork)
    /// What a refresh found outdated, and no store replaces; for the first or the second time.
    indirect case removal(EntryWork, isRepeated: Bool)
    /// The text of an entry that its origin has confirmed, which the cache is told.
    case renewal(String)
    /// Whether a refreshed body is the stored one.
    case comparing(SourceNode.ID)

    /// Within one class and kind of worker, what ends a request comes before what begins one, and
    /// what no reply waits for comes last.
    func rank(_ kind: WorkerKind) -> UInt8 {
        switch self {
        case .delivery, .comparing, .removal: 0
        // Whoever begins anew because of a removal asks the cache behind it.
        case .inquiry(let work) where work.action.removes: 0
        case .original, .renewal: 1
        case .transcode: kind == .cache ? 1 : 3
        case .partial: 3
        case .lookup, .validity, .source, .decode, .transform, .inquiry: 2
        }
    }

    /// Whether it waits for space outside, where there is none: what no reply waits for does not.
    var waitsForSpace: Bool {
        switch self {
        case .original, .comparing, .transcode, .removal, .renewal, .partial: false
        case .lookup, .validity, .source, .decode, .transform, .delivery, .inquiry: true
        }
    }
}

extension StageTimings {
    /// Stage by stage; the total is of the request alone.
    package static func += (left: inout StageTimings, right: StageTimings) {
        left.queue += right.queue
        left.query += right.query
        left.fetch += right.fetch
        left.decode += right.decode
        left.transform += right.transform
        left.store += right.store
    }

    /// A job ended.
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

// The job that makes an image of pixels.
extension Deriver {
    /// What is made of pixels for a result, or a link of that; it may be refused for what it costs.
    func transformWork(
        of node: ResultNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        over overlays: [DecodeNode.Pixels], linkOf chain: StepChain? = nil
    ) -> TransformWork {
        let key = results[node].name.key
        let whole = TransformWork(
            frame, info, key.steps, over: overlays, key.output,
            limits.image.narrowed(by: key.decode.limits))
        // The steps of a link are those that make its size, by which a format is accepted.
        return (chain?.link(of: whole) ?? whole).accepting(atMost: limits.encodingCostMax)
    }
}

extension TransformWork {
    /// Steps and encode of pixels, with what is laid over them.
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

// A request that would begin work which has to wait too long is refused at once, and told when to
// come again (SEMANTICS §9.3). Work that is under way is never refused: requests may join it, and
// it goes on.
extension Deriver {
    /// Why a result cannot be begun: a stage that it needs is over its bound, or such work killed
    /// workers.
    mutating func refusal(toMake name: ResultName, of order: Order) -> ImageError? {
        if order.plan.includes(.transform), let error = dispatcher.refusal(in: .transform) {
            return error
        }
        if order.plan.includes(.deliver), let error = dispatcher.refusal(in: .store) {
            return error
        }
        if order.canvas == nil, let error = refusal(toDecode: name.decode, of: order) {
            return error
        }
        return isPoisoned(name) ? Dispatcher.poisoned : nil
    }

    /// The same of pixels.
    mutating func refusal(toDecode name: Sourced<DecodeKey>, of order: Order) -> ImageError? {
        guard decodes.first(under: name) == nil else { return nil }
        if let error = dispatcher.refusal(in: .decode) { return error }
        let bytes = Sourced(key: name.key.source, origin: name.origin)
        guard order.upload == nil, sources.serving(bytes) == nil else { return nil }
        return dispatcher.refusal(in: name.origin.isFetched ? .fetch : .query)
    }
}

// Work that is not tried, since it killed workers (SEMANTICS §7.5).
extension Deriver {
    /// Whether making the result would need such work.
    func isPoisoned(_ name: ResultName) -> Bool {
        isPoisoned(name.decode) || dispatcher.isQuarantined(.transform(name.key))
    }

    /// The same of pixels.
    func isPoisoned(_ name: Sourced<DecodeKey>) -> Bool {
        let source = name.key.source
        if dispatcher.isQuarantined(.decode(source)) { return true }
        if dispatcher.isQuarantined(.drawing(source, name.key.need)) { return true }
        return name.origin.isFetched && dispatcher.isQuarantined(.fetch(source))
    }

    /// Whether a partial image is left, since such work on the bytes or for the result has killed a
    /// worker: the whole image is enough to find out whether it does so again.
    func isSuspected(_ suspect: Suspect, for name: ResultName) -> Bool {
        dispatcher.isSuspected(suspect) || dispatcher.isSuspected(.transform(name.key))
    }

    /// What is suspected where a decode of a source's bytes kills workers.
    func suspect(
        _ node: SourceNode.ID, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let name = sources[node].name
        if case .cache(let query) = name.origin,
            dispatcher.isForeignCache(block.worker) || layout.mayHavePromoted(query.key)
        {
            return .kept(name.key, text: query.key)
        }
        return suspect(name.key, need, in: block)
    }

    /// The same of bytes that are the source's own.
    func suspect(
        _ source: SourceKey, _ need: DecodeNeed, in block: BlockHandle
    ) -> Suspect {
        let format = dispatcher.format(of: block)
        return format?.traits.isDrawn == true ? .drawing(source, need) : .decode(source)
    }
}
