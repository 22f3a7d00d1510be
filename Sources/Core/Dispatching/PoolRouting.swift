package import ImageModel
package import Messages

// Which pool does a job.
extension Dispatcher {
    /// The pool that gets the job: the first of its kind that is granted all that it needs. Where
    /// the only one may do everything, nothing is looked at. Throws what is missing.
    func route(_ submission: Submission) throws(ImageError) -> PoolID {
        let (pools, kind) = (limits.pools, submission.spec.kind)
        if case .fetch(let work) = submission.spec.work, case .pool(let name) = work.loader {
            return try pool(ofLoader: name, for: submission)
        }
        if let pool = submission.foreignCache { return pool }
        let isOpen = kind == .cache || pools.isOpen(kind)
        guard !isOpen || !submission.coders.isEmpty else { return PoolID(kind) }
        let needs = needs(of: submission)
        let pool =
            submission.coders.isEmpty
            ? try pools.pool(of: kind, for: needs) : try pools.coder(submission.coders, for: needs)
        guard pool != PoolID(kind) else { return pool }
        try checkRoom(in: pool, for: submission)
        return pool
    }

    /// Whether a pool of somebody else encodes what is wanted so.
    package func encodesElsewhere(_ output: OutputOptions) -> Bool {
        limits.pools.foreignEncodes(output)
    }

    /// The pool that a loader names. Pools are as they were when the stack was started; loaders are
    /// loaded anew.
    private func pool(
        ofLoader name: String, for submission: Submission
    ) throws(ImageError) -> PoolID {
        let id = PoolName(name).flatMap { limits.pools.id(of: $0) }
        guard let id, limits.pools.kind(of: id) == .download, limits.pools[id].trust == .foreign
        else {
            throw ImageError(
                .unsupportedScheme,
                "the pool '\(name)' of this loader was not there when the stack was started: start "
                    + "imagebus serve again")
        }
        guard needs(of: submission).areMet(by: limits.pools[id].grant) else {
            throw limits.pools.refusal(of: .download, needs(of: submission))
        }
        try checkRoom(in: id, for: submission)
        return id
    }

    func needs(of submission: Submission) -> JobNeeds {
        JobNeeds(
            submission.spec.work, input: submission.input.flatMap { ledger.format(of: $0) },
            isForeign: submission.isForeign)
    }

    /// A further pool has bounds of its own for what waits: at admission it was not known yet who
    /// would do the job. What its jobs read is output of an earlier stage that stays: all further
    /// pools together hold at most a quarter of its budget, and one job whatever it reads, so that
    /// one without workers does not stop the earlier stage. What steps of somebody else read stops
    /// nobody (`hasBudget`), and is as much as a stage may have made. `claimed`: what it reads was
    /// counted for another further pool, which it leaves.
    func checkRoom(
        in pool: PoolID, for submission: Submission, claimed: UInt64 = 0
    ) throws(ImageError) {
        let stage = submission.spec.stage
        let backlog = jobs.load(of: pool, stage).backlog
        let isStep = limits.pools[pool].isForeignTransformer
        let all = isStep ? jobs.bytesClaimedForSteps : jobs.bytesClaimedByFurtherPools
        let others = all - claimed
        let most = isStep ? limits.outputBytesMax.transform : inputBytesMax(of: stage)
        let fits = others == 0 || others + submission.inputBytes <= most
        guard fits, jobs.queued(in: pool) < limits.queuedJobsMax,
            backlog < limits.queuedCostMax[stage]
        else { throw .busy("too much waits for the pool '\(limits.pools[pool].name)'") }
    }

    private func inputBytesMax(of stage: JobStage) -> UInt64 {
        switch stage {
        case .decode: limits.outputBytesMax.download / 4
        case .transform: limits.outputBytesMax.decode / 4
        case .fetch, .query, .store: .max
        }
    }
}

/// What a worker has to be able to do for a job, and has to be granted.
struct JobNeeds: Hashable, Sendable {
    private let kind: WorkerKind
    private var scheme: String?
    private var formatIn: ImageFormat?
    private var formatsOut: [String] = []
    private var steps: [String] = []
    /// Whether workers of somebody else transform, and none of ours.
    let isForeign: Bool
    /// Whether any decoder will do for an SVG.
    private var takesDrawingsUndrawn = false

    /// `input` is what the bytes that it reads are said to be.
    init(_ work: JobWork, input: ImageFormat?, isForeign: Bool = false) {
        kind = work.kind
        self.isForeign = isForeign
        switch work {
        case .fetch(let work): scheme = Self.scheme(of: work.url)
        case .decode(let work):
            formatIn = input
            takesDrawingsUndrawn = input == .svg && work.takesDrawingsUndrawn
        case .transform(let work):
            let formats = [false, true].map { work.resultFormat(hasAlpha: $0).name }
            formatsOut = formats[0] == formats[1] ? [formats[0]] : formats
            steps = Set(work.steps.map(\.name)).sorted()
        case .paint(let work): formatsOut = [work.resultFormat.name]
        case .query, .store, .entry: break
        }
    }

    private static func scheme(of url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != 0x3A }, as: UTF8.self).lowercased()
    }

    /// The same where nothing has to be drawn; `nil`: it has.
    var undrawn: JobNeeds? {
        guard takesDrawingsUndrawn else { return nil }
        var needs = self
        (needs.formatIn, needs.takesDrawingsUndrawn) = (nil, false)
        return needs
    }

    /// Whether a worker that can do that can do the job.
    func areMet(by capabilities: WorkerCapabilities) -> Bool {
        missing(in: capabilities) == nil
    }

    /// The first that is missing.
    func missing(in capabilities: WorkerCapabilities) -> Missing? {
        if let scheme, capabilities.schemes?.contains(scheme) == false { return .scheme(scheme) }
        if kind == .decode, !capabilities.decodes(formatIn) { return .formatIn(formatIn) }
        if let out = Self.first(of: formatsOut, notIn: capabilities.formatsOut) {
            return .formatOut(out)
        }
        return Self.first(of: steps, notIn: capabilities.steps).map(Missing.step)
    }

    /// What no pool of somebody else is granted, where it is for such: a custom step, or a format.
    var missingElsewhere: Missing? {
        guard isForeign else { return nil }
        return steps.first.map(Missing.step) ?? formatsOut.first.map(Missing.formatOut)
    }

    private static func first(of names: [String], notIn granted: Set<String>?) -> String? {
        guard let granted else { return nil }
        return names.first { !granted.contains($0) }
    }

    /// What a pool is not granted, or a worker cannot do.
    enum Missing: Hashable, Sendable {
        case scheme(String)
        case formatIn(ImageFormat?)
        case formatOut(String)
        case step(String)
    }
}

extension JobNeeds.Missing {
    /// The refusal of a job for which no pool of its kind has all grants.
    func refusal(of kind: WorkerKind) -> ImageError {
        let (what, key, code): (String, String, ErrorCode) =
            switch self {
            case .scheme(let name): ("the scheme '\(name)'", "schemes", .unsupportedScheme)
            case .formatIn(let format?):
                ("the format '\(format.name)'", "formats-in", .unsupportedFormat)
            case .formatIn(nil): ("bytes of an unknown format", "formats-in", .unsupportedFormat)
            case .formatOut(let name):
                ("the format '\(name)'", "formats-out", .unsupportedFormat)
            case .step(let name): ("the step '\(name)'", "steps", .stepFailed)
            }
        var error = ImageError(
            code,
            "no pool of \(kind.name) workers is granted \(what) for this job: an operator grants "
                + "it with '\(key)' under 'pools' in the configuration")
        if case .step(let name) = self { error.details["step"] = name }
        return error
    }
}

extension WorkerPools {
    /// The first pool of the kind that is granted all that the job needs, and is no loader's.
    /// Throws why there is none: what the last pool of the kind, that of every stack, is not
    /// granted, or else another one.
    func pool(of kind: WorkerKind, for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: pools(of: kind), for: needs) { return pool }
        if let undrawn = needs.undrawn {
            let own = pools(of: kind).filter { all[$0.index].trust == .own }
            if let pool = first(of: own, for: undrawn) { return pool }
        }
        throw refusal(of: kind, needs)
    }

    /// The first of the pools of decoders of these names that is granted what the job needs.
    func coder(_ names: [String], for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: coders(names), for: needs) { return pool }
        let names = names.joined(separator: ", ")
        throw ImageError(
            .unsupportedFormat,
            "no coder of this request decodes the image: it names \(names)",
            details: ["coders": names])
    }

    /// The next one of these pools, or of all, that is granted what the job needs.
    func coder(after pool: PoolID, among names: [String], for needs: JobNeeds) -> PoolID? {
        let order = names.isEmpty ? pools(of: .decode) : coders(names)
        guard let place = order.firstIndex(of: pool) else { return nil }
        return first(of: Array(order[(place + 1)...]), for: needs)
    }

    /// Each once, in the order of the names: whoever was asked is not asked again.
    private func coders(_ names: [String]) -> [PoolID] {
        names.compactMap { PoolName($0).flatMap(id) }.filter { kind(of: $0) == .decode }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What is for workers of somebody else goes to one of their pools, and nothing else does.
    private func first(of pools: [PoolID], for needs: JobNeeds) -> PoolID? {
        pools.first {
            !all[$0.index].isLoader && all[$0.index].isForeignTransformer == needs.isForeign
                && needs.areMet(by: self[$0].grant)
        }
    }

    /// Why no pool of the kind does it.
    func refusal(of kind: WorkerKind, _ needs: JobNeeds) -> ImageError {
        if let missing = needs.missingElsewhere { return missing.refusal(of: kind) }
        let missing = pools(of: kind).reversed().lazy.compactMap {
            needs.missing(in: self[$0].grant)
        }
        return missing.first?.refusal(of: kind) ?? .busy("there is no pool for this job")
    }
}

// Caches that are somebody else's: what is asked of them is asked once, and of one pool.
extension Dispatcher {
    /// A number for work that is several jobs.
    package mutating func nextNumber() -> JobID { jobs.nextID() }

    /// Work that was several jobs is over.
    package mutating func conclude(_ completion: Completion) { complete(completion) }

    /// The pool of that name, where it was there when the stack was started.
    package func foreignCache(_ name: String) -> PoolID? {
        guard let id = PoolName(name).flatMap({ limits.pools.id(of: $0) }),
            limits.pools.isForeignCache(id)
        else { return nil }
        return id
    }

    /// Whether the worker is one of those.
    package func isForeignCache(_ worker: WorkerID) -> Bool {
        roster[worker].map { limits.pools.isForeignCache($0.pool) } ?? false
    }

    /// Why the pool cannot be asked one thing more; `nil` where it can. What waits for it is
    /// little, since it would come too late.
    package func obstacle(in pool: PoolID) -> ForeignCacheObstacle? {
        let credit = roster.credit(of: pool)
        guard credit.window > 0 else { return .missing }
        return jobs.queued(in: pool) < Self.queuedFactor * credit.window ? nil : .full
    }

    /// Whether caches of others may be given so many bytes more to read. They are output of earlier
    /// stages, which stays meanwhile: all their stores hold a part of its budget at most, and one
    /// of them whatever it reads.
    package func mayRead(_ bytes: UInt64) -> Bool {
        let claimed = jobs.bytesClaimedByCaches
        let most = min(limits.outputBytesMax.download, limits.outputBytesMax.transform) / 8
        return claimed == 0 || claimed + bytes <= most
    }

    /// Bytes of output in use, so that a decoder that is slow does not keep all that a cache of
    /// others has.
    static let foreignCacheOutputBytes: UInt64 = 256 << 20

    private static let queuedFactor = 4
}

/// What keeps a cache of others from being asked.
package enum ForeignCacheObstacle: Hashable, Sendable {
    /// No worker of its pool takes jobs.
    case missing
    /// As much waits for it as may.
    case full
}
