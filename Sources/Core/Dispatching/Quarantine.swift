package import ImageModel
package import Messages
import Tables

/// What killed workers, and is therefore not tried for a while (SEMANTICS §7.5).
///
/// Evidence is a record that names the job: of the worker's own fault handler, of a worker whose
/// work did not stop, of `serve` where a loop stood still, or of the cache where the image is not
/// what was said; or a decoder that used up its time, or was lost with the job. Enough of it for
/// one suspect, with no success between, quarantines it (`Suspect.weightMax`).
struct Quarantine: Sendable {
    /// The evidence against a suspect.
    private struct Held: Sendable {
        var weight = 0
        let weightMax: Int

        var isEnough: Bool { weight >= weightMax }
    }

    private var table: DenyList<Suspect, Held>

    /// `entriesMax` suspects; `milliseconds` until one is forgotten (`DenyList`).
    init(entriesMax: Int, milliseconds: Int) {
        table = DenyList(entriesMax: entriesMax, milliseconds: milliseconds)
    }

    /// Whether nothing is held against anything, as hardly ever.
    var isEmpty: Bool { table.isEmpty }

    /// Suspects that are not tried now.
    func count(at now: Instant) -> Int {
        table.live(at: now).count { $0.entry.value.isEnough }
    }

    /// Whether it is not tried now.
    func holds(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        // Without any record the key is not even made.
        guard !table.isEmpty else { return false }
        let suspect = suspect()
        return isCondemned(suspect, at: now)
            || suspect.wider.map { isCondemned($0, at: now) } ?? false
    }

    /// Whether anything is held against it, be it too little to quarantine it.
    func suspects(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        !table.isEmpty && table.entry(suspect(), at: now) != nil
    }

    /// There is evidence against it. Returns whether it is quarantined.
    mutating func accuse(
        _ suspect: Suspect, _ evidence: Evidence, at now: Instant, numbers: inout UInt64
    ) -> Bool {
        for accused in [suspect, suspect.wider].compactMap(\.self) {
            var held = table.entry(accused, at: now)?.value ?? Held(weightMax: accused.weightMax)
            held.weight += evidence.weight
            table.put(accused, held, url: accused.source.bareURL, at: now, numbers: &numbers)
        }
        return holds(suspect, at: now)
    }

    /// It went well: what was held against it is void. What was held against other sizes of the
    /// same drawing is not.
    mutating func acquit(_ suspect: Suspect, at now: Instant) {
        guard let held = table.entry(suspect, at: now)?.value, !held.isEnough else { return }
        table.remove(suspect)
        guard let wider = suspect.wider, var rest = table.entry(wider, at: now)?.value,
            !rest.isEnough
        else { return }
        rest.weight -= held.weight
        table.update(wider, rest)
    }

    /// Those that are not tried, in no order.
    func entries(at now: Instant) -> [BlacklistReport.Entry] {
        table.live(at: now).filter { $0.entry.value.isEnough }.map { suspect, entry in
            BlacklistReport.Entry(
                number: entry.number, url: entry.shownURL, operation: suspect.stage.name,
                reason: .poisoned, expiresInMilliseconds: entry.millisecondsLeft(at: now))
        }
    }

    /// Forgives a URL, or everything. Returns how many were not tried.
    mutating func remove(_ url: String?, at now: Instant) -> Int {
        table.remove(at: now) { url.map($0.isNamed) ?? true }.count { $0.value.isEnough }
    }

    private func isCondemned(_ suspect: Suspect, at now: Instant) -> Bool {
        table.entry(suspect, at: now)?.value.isEnough ?? false
    }
}

/// Content and the operation on it that is suspected of killing workers (SEMANTICS §7.5).
///
/// Equal suspects share their evidence: ten sizes of one image that kills decoders are one
/// suspect, while a transform is one with its steps and output. What a drawing costs depends on
/// how large it is drawn, so each size of it is a suspect of its own. Sizes are many, so what is
/// held against one of them counts against the drawing as well (`wider`).
package enum Suspect: Hashable, Sendable {
    /// The transfer of a source.
    case fetch(SourceKey)
    /// Any decode of a source.
    case decode(SourceKey)
    /// Any decode of what a cache of others says of a source under a text: it is no evidence
    /// against the source, whose bytes may be others.
    case kept(SourceKey, text: String)
    /// A drawing of a source for that need.
    case drawing(SourceKey, DecodeNeed)
    /// All drawings of a source, whatever their sizes.
    case drawings(SourceKey)
    /// These steps and this output of a source.
    case transform(ResultKey)
    /// What a serializer makes of anything of a source.
    case transcode(SourceKey, OutputOptions)

    /// Whose bytes.
    var source: SourceKey {
        switch self {
        case .fetch(let source), .decode(let source), .kept(let source, _),
            .drawing(let source, _), .drawings(let source), .transcode(let source, _):
            source
        case .transform(let result): result.decode.source
        }
    }

    /// What the evidence against it counts against as well, and what is not tried without it.
    var wider: Suspect? {
        if case .drawing(let source, _) = self { return .drawings(source) }
        return nil
    }

    /// The weight of evidence that quarantines it: two crashes, or two sizes with two each.
    var weightMax: Int {
        let ofOne = 2 * Evidence.crash.weight
        if case .drawings = self { return 2 * ofOne }
        return ofOne
    }

    /// The stage that would do it.
    var stage: JobStage {
        switch self {
        case .fetch: .fetch
        case .decode, .kept, .drawing, .drawings: .decode
        case .transform, .transcode: .transform
        }
    }
}

/// What is held against content (SEMANTICS §7.5).
package enum Evidence: Hashable, Sendable {
    /// It ended a worker, kept its loop from turning, or used more of the processors than any image
    /// takes; or the image was not what the worker said.
    case crash
    /// Its worker vanished without a record, as one does that the kernel kills for its memory.
    case loss
    /// A decoder used up the time that it was given, or had to be ended with its process. An honest
    /// image may do so on a busy machine, so it takes more of these.
    case overrun

    /// What it counts.
    var weight: Int {
        switch self {
        case .crash, .loss: 2
        case .overrun: 1
        }
    }
}

// What kills workers is not tried again (SEMANTICS §7.5).
extension Dispatcher {
    /// The worker that held the job crashed or hung, and its record names the job. SIGBUS is no
    /// evidence: readers map what its producer might have cut off.
    mutating func accuse(_ job: ActiveJob, _ crash: CrashRecord) {
        if crash.cause != .signal(Self.busError), !job.isExpendable { charge(job) }
        switch crash.cause {
        case .cancelledHard:
            if isOverrun(job) { accuse(job, .overrun) }
        case .signal(Self.busError): figures.crashes += 1
        case .signal, .stoodStill, .didNotStop:
            figures.crashes += 1
            accuse(job, .crash)
        }
    }

    /// The worker that held the job vanished, and left no record.
    mutating func accuseOfLoss(_ job: ActiveJob) {
        guard !job.isExpendable else { return }
        charge(job)
        accuse(job, .loss)
    }

    /// Whoever's share the job took pays for the worker. Other kinds of workers have many jobs at a
    /// time, and other units of cost.
    private mutating func charge(_ job: ActiveJob) {
        guard job.kind == .decode || job.kind == .transform else { return }
        jobs.owe(job, limits.lostWorkerCost)
    }

    private mutating func accuse(_ job: ActiveJob, _ evidence: Evidence) {
        if let suspect = job.suspect { accuse(suspect, evidence) }
    }

    /// Where there is enough evidence, everything that needs the same work ends.
    mutating func accuse(_ suspect: Suspect, _ evidence: Evidence) {
        guard quarantine.accuse(suspect, evidence, at: now, numbers: &numbers.denial) else {
            return
        }
        for id in jobs.ids {
            guard let job = jobs[id], job.isWanted, let suspect = job.suspect,
                quarantine.holds(suspect, at: now)
            else { continue }
            complete(.failed(Completion.Ended(job), Self.poisoned))
            abandon(id)
        }
    }

    /// A decoder stopped at the end of its time, and nobody else told it to.
    mutating func accuseIfOutOfTime(_ job: ActiveJob, _ result: JobResult) {
        guard case .failed(let error) = result, error.code == .cancelled,
            job.stoppedAt.map({ $0 >= job.told.deadline }) ?? true, isOverrun(job)
        else { return }
        accuse(job, .overrun)
    }

    /// Whether a decode took long enough to be held against the image. How long a transform takes
    /// the request decides, and a transfer its origin.
    private func isOverrun(_ job: ActiveJob) -> Bool {
        job.kind == .decode && !job.isExpendable
            && job.heldSince.adding(milliseconds: limits.overrunMilliseconds) <= now
    }

    /// The job went well: what was held against such work is void. What a transformer made is only
    /// seen when the cache has read it. What is expendable was made of less than the whole, and
    /// a header says nothing of the pixels.
    mutating func acquit(_ job: ActiveJob, _ result: JobResult) {
        guard !quarantine.isEmpty, !job.isExpendable else { return }
        if case .decoded(let image) = result, image.frames.isEmpty { return }
        if let suspect = job.suspect, job.kind != .transform {
            quarantine.acquit(suspect, at: now)
        }
        if let maker = job.submission.maker { quarantine.acquit(maker, at: now) }
    }

    /// Whether such work is not tried now.
    package func isQuarantined(_ suspect: @autoclosure () -> Suspect) -> Bool {
        quarantine.holds(suspect(), at: now)
    }

    /// Whether such work has killed a worker, and no success made that void. What is done or left
    /// is left then.
    package func isSuspected(_ suspect: @autoclosure () -> Suspect) -> Bool {
        quarantine.suspects(suspect(), at: now)
    }

    /// What is not tried now, in no order.
    package var quarantined: [BlacklistReport.Entry] { quarantine.entries(at: now) }

    /// Forgives what a URL was suspected of, or everything. Returns how much was not tried.
    package mutating func forgive(_ url: String?) -> Int { quarantine.remove(url, at: now) }

    /// The last number that an entry of the quarantine was given, or of another list beside it: no
    /// two entries have the same.
    package var lastDenial: UInt64 {
        get { numbers.denial }
        set { numbers.denial = newValue }
    }

    /// SIGBUS.
    private static let busError: Int32 = 7

    /// Work that is not tried.
    package static let poisoned = ImageError(
        .poisoned,
        "workers crashed or hung with this content more than once: it is not tried for a while; "
            + "imagebus blacklist lists and removes it")
}
