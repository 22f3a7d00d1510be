import Model

// Routing of jobs to pools.
extension Dispatcher {
    /// Returns the first pool of the job's kind that is granted everything the job needs. If the
    /// only pool is unrestricted, nothing is examined. Throws an error that names the missing
    /// grant.
    func route(_ submission: Submission) throws(ImageError) -> PoolID {
        let (pools, kind) = (limits.pools, submission.spec.kind)
        if case .fetch(let work) = submission.spec.work, case .pool(let name) = work.loader {
            return try pool(ofLoader: name, for: submission)
        }
        if let pool = submission.externalCache { return pool }
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

    /// Whether an external pool provides the encoder for these output options.
    func encodesElsewhere(_ output: OutputOptions) -> Bool {
        limits.pools.externalEncodes(output)
    }

    /// Returns the pool that a loader uses. Pools are fixed when the stack starts, whereas loaders
    /// are reloaded.
    private func pool(
        ofLoader name: String, for submission: Submission
    ) throws(ImageError) -> PoolID {
        let id = PoolName(name).flatMap { limits.pools.id(of: $0) }
        guard let id, limits.pools.kind(of: id) == .download, limits.pools[id].trust == .external
        else {
            throw ImageError(
                .unsupportedScheme,
                "the pool '\(name)' of this loader did not exist when the stack was started: "
                    + "restart imagebus serve")
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
            isExternal: submission.isExternal)
    }

    /// Throws `busy` if an additional pool has no capacity for the job. Its limits can't be checked
    /// at admission because the pool isn't known then. The inputs of waiting jobs are output of an
    /// earlier stage. All additional pools together may hold at most a quarter of that stage's
    /// budget, or one job of any size, so that a pool without workers doesn't stall the earlier
    /// stage. Inputs of external transform steps stall no stage (`hasBudget`); they may use a full
    /// stage budget. `claimed` is the size of the inputs if they are already counted for another
    /// additional pool that the job is leaving.
    func checkRoom(
        in pool: PoolID, for submission: Submission, claimed: UInt64 = 0
    ) throws(ImageError) {
        let stage = submission.spec.stage
        let backlog = jobs.load(of: pool, stage).backlog
        let isStep = limits.pools[pool].isExternalTransformer
        let all = isStep ? jobs.bytesClaimedForSteps : jobs.bytesClaimedByFurtherPools
        let others = all - claimed
        let most = isStep ? limits.outputBytesMax.transform : inputBytesMax(of: stage)
        let fits = others == 0 || others + submission.inputBytes <= most
        guard fits, jobs.queued(in: pool) < limits.queuedJobsMax,
            backlog < limits.queuedCostMax[stage]
        else { throw .busy("the queue of the pool '\(limits.pools[pool].name)' is full") }
    }

    private func inputBytesMax(of stage: JobStage) -> UInt64 {
        switch stage {
        case .decode: limits.outputBytesMax.download / 4
        case .transform: limits.outputBytesMax.decode / 4
        case .fetch, .query, .store: .max
        }
    }
}

/// The capabilities and grants that a job requires of a worker.
struct JobNeeds: Hashable, Sendable {
    private let kind: WorkerKind
    private var scheme: String?
    private var formatIn: ImageFormat?
    private var formatsOut: [String] = []
    private var steps: [String] = []
    /// Whether only external workers may run the transform.
    let isExternal: Bool
    /// Whether the job is an SVG that any built-in decoder can handle, because it need not be
    /// rendered.
    private var canSkipRendering = false

    /// `input` is the declared format of the input bytes.
    init(_ work: JobWork, input: ImageFormat?, isExternal: Bool = false) {
        kind = work.kind
        self.isExternal = isExternal
        switch work {
        case .fetch(let work): scheme = Self.scheme(of: work.url)
        case .decode(let work):
            formatIn = input
            canSkipRendering = input == .svg && work.canSkipRendering
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

    /// The needs without rendering a drawing; `nil` if the job requires rendering.
    var withoutRendering: JobNeeds? {
        guard canSkipRendering else { return nil }
        var needs = self
        (needs.formatIn, needs.canSkipRendering) = (nil, false)
        return needs
    }

    /// Whether these capabilities suffice for the job.
    func areMet(by capabilities: WorkerCapabilities) -> Bool {
        missing(in: capabilities) == nil
    }

    /// Returns the first missing capability.
    func missing(in capabilities: WorkerCapabilities) -> Missing? {
        if let scheme, capabilities.schemes?.contains(scheme) == false { return .scheme(scheme) }
        if kind == .decode, !capabilities.decodes(formatIn) { return .formatIn(formatIn) }
        if let out = Self.first(of: formatsOut, notIn: capabilities.formatsOut) {
            return .formatOut(out)
        }
        return Self.first(of: steps, notIn: capabilities.steps).map(Missing.step)
    }

    /// The step or format that no external pool is granted, for jobs that only external workers may
    /// run.
    var missingElsewhere: Missing? {
        guard isExternal else { return nil }
        return steps.first.map(Missing.step) ?? formatsOut.first.map(Missing.formatOut)
    }

    private static func first(of names: [String], notIn granted: Set<String>?) -> String? {
        guard let granted else { return nil }
        return names.first { !granted.contains($0) }
    }

    /// A grant or capability that is missing.
    enum Missing: Hashable, Sendable {
        case scheme(String)
        case formatIn(ImageFormat?)
        case formatOut(String)
        case step(String)
    }
}

extension JobNeeds.Missing {
    /// Returns the error for a job whose needs no single pool of its kind meets.
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
            "no pool of \(kind.name) workers is granted \(what) for this job: grant it with "
                + "'\(key)' under 'pools' in the configuration")
        if case .step(let name) = self { error.typedDetails.step = name }
        return error
    }
}

extension WorkerPools {
    /// Returns the first pool of the kind that is granted everything the job needs and isn't a
    /// loader's pool. Otherwise throws an error with a missing grant, preferably of the last pool
    /// of the kind, the built-in one.
    func pool(of kind: WorkerKind, for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: pools(of: kind), for: needs) { return pool }
        if let reduced = needs.withoutRendering {
            let own = pools(of: kind).filter { all[$0.index].trust == .own }
            if let pool = first(of: own, for: reduced) { return pool }
        }
        throw refusal(of: kind, needs)
    }

    /// Returns the first of the named decoder pools that is granted what the job needs.
    func coder(_ names: [String], for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: coders(names), for: needs) { return pool }
        let names = names.joined(separator: ", ")
        throw ImageError(
            .unsupportedFormat,
            "none of the requested coders (\(names)) can decode the image"
        ) { $0.coders = names }
    }

    /// Returns the next pool after `pool`, among the named or all decoder pools, that is granted
    /// what the job needs.
    func coder(after pool: PoolID, among names: [String], for needs: JobNeeds) -> PoolID? {
        let order = names.isEmpty ? pools(of: .decode) : coders(names)
        guard let place = order.firstIndex(of: pool) else { return nil }
        return first(of: Array(order[(place + 1)...]), for: needs)
    }

    /// The pools in the order of the names, without duplicates so that no pool is tried twice.
    private func coders(_ names: [String]) -> [PoolID] {
        names.compactMap { PoolName($0).flatMap(id) }.filter { kind(of: $0) == .decode }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// External pools get exactly the jobs that require external workers.
    private func first(of pools: [PoolID], for needs: JobNeeds) -> PoolID? {
        pools.first {
            !all[$0.index].isLoader && all[$0.index].isExternalTransformer == needs.isExternal
                && needs.areMet(by: self[$0].grant)
        }
    }

    /// Returns the error for a job that no pool of the kind can run.
    func refusal(of kind: WorkerKind, _ needs: JobNeeds) -> ImageError {
        if let missing = needs.missingElsewhere { return missing.refusal(of: kind) }
        let missing = pools(of: kind).reversed().lazy.compactMap {
            needs.missing(in: self[$0].grant)
        }
        return missing.first?.refusal(of: kind) ?? .busy("no pool accepts this job")
    }
}

// External caches: each operation is attempted at most once, and only by the cache's own pool.
extension Dispatcher {
    /// Returns the external cache pool of that name if it existed when the stack started.
    func externalCache(_ name: String) -> PoolID? {
        guard let id = PoolName(name).flatMap({ limits.pools.id(of: $0) }),
            limits.pools.isExternalCache(id)
        else { return nil }
        return id
    }

    /// Whether the worker belongs to an external cache.
    func isExternalCache(_ worker: WorkerID) -> Bool {
        roster[worker].map { limits.pools.isExternalCache($0.pool) } ?? false
    }

    /// Whether the queue of an external cache has space for another job. It is short because late
    /// answers are useless.
    func hasShortQueue(_ pool: PoolID) -> Bool {
        jobs.queued(in: pool) < Self.queuedFactor * roster.credit(of: pool).window
    }

    /// Whether external caches may read this many more bytes. The bytes are output of earlier
    /// stages and stay allocated meanwhile, so all stores to external caches together may hold only
    /// part of that output budget, or one store of any size.
    func mayRead(_ bytes: UInt64) -> Bool {
        let claimed = jobs.bytesClaimedByCaches
        let most = min(limits.outputBytesMax.download, limits.outputBytesMax.transform) / 8
        return claimed == 0 || claimed + bytes <= most
    }

    /// Budget for unconsumed output in bytes, so that a slow decoder doesn't retain everything an
    /// external cache can produce.
    static let externalCacheOutputBytes: UInt64 = 256 << 20

    private static let queuedFactor = 4
}
