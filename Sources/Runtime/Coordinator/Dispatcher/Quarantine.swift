import Model

/// Work that crashed workers and is therefore blocked for a while (SEMANTICS §7.5).
///
/// Evidence is a crash record that names the job: written by the worker's own signal handler, by a
/// worker whose work didn't stop, by `serve` for a stalled loop, or derived from the cache's
/// finding that an image isn't what was declared. A decoder that exceeded its time or was lost with
/// the job is also evidence. Enough evidence against one suspect without an intervening success
/// quarantines it (`Suspect.weightMax`).
struct Quarantine: Sendable {
    /// The accumulated evidence against a suspect.
    private struct Held: Sendable {
        var weight = 0
        let weightMax: Int

        var isEnough: Bool { weight >= weightMax }
    }

    private var table: FailureCache<Suspect, Held>

    /// Creates a quarantine for at most `entriesMax` suspects, each of which expires after
    /// `milliseconds` (`FailureCache`).
    init(entriesMax: Int, milliseconds: Int) {
        table = FailureCache(entriesMax: entriesMax, milliseconds: milliseconds)
    }

    /// Whether there is no evidence at all, which is the usual case.
    var isEmpty: Bool { table.isEmpty }

    /// The number of quarantined suspects.
    func count(at now: Instant) -> Int {
        table.live(at: now).count { $0.entry.value.isEnough }
    }

    /// Whether the suspect is quarantined.
    func holds(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        // Without any evidence the key isn't even computed.
        guard !table.isEmpty else { return false }
        let suspect = suspect()
        return isCondemned(suspect, at: now)
            || suspect.wider.map { isCondemned($0, at: now) } ?? false
    }

    /// Whether there is any evidence against the suspect, even if it isn't enough for quarantine.
    func suspects(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        !table.isEmpty && table.entry(suspect(), at: now) != nil
    }

    /// Records evidence against a suspect. Returns whether it is quarantined.
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

    /// Discards the evidence after a success. Evidence against other sizes of the same drawing
    /// remains.
    mutating func acquit(_ suspect: Suspect, at now: Instant) {
        guard let held = table.entry(suspect, at: now)?.value, !held.isEnough else { return }
        table.remove(suspect)
        guard let wider = suspect.wider, var rest = table.entry(wider, at: now)?.value,
            !rest.isEnough
        else { return }
        rest.weight -= held.weight
        table.update(wider, rest)
    }

    /// The quarantined suspects, in no particular order.
    func entries(at now: Instant) -> [FailureCacheReport.Entry] {
        table.live(at: now).filter { $0.entry.value.isEnough }.map { suspect, entry in
            FailureCacheReport.Entry(
                number: entry.number, url: entry.shownURL, operation: suspect.stage.name,
                reason: .poisoned, expiresInMilliseconds: entry.millisecondsLeft(at: now))
        }
    }

    /// Clears a URL, or everything. Returns the number of quarantined suspects that were removed.
    mutating func remove(_ url: String?, at now: Instant) -> Int {
        table.remove(at: now) { url.map($0.isNamed) ?? true }.count { $0.value.isEnough }
    }

    private func isCondemned(_ suspect: Suspect, at now: Instant) -> Bool {
        table.entry(suspect, at: now)?.value.isEnough ?? false
    }
}

/// Content, together with the operation on it, that is suspected of crashing workers
/// (SEMANTICS §7.5).
///
/// Equal suspects share their evidence. Ten sizes of one image that crashes decoders are one
/// suspect, whereas a transform is identified by its steps and output as well. The cost of a
/// drawing depends on the size at which it is rendered, so each size is a separate suspect. Because
/// there are many sizes, evidence against one size also counts against the drawing as a whole
/// (`wider`).
enum Suspect: Hashable, Sendable {
    /// The download of a source.
    case fetch(SourceKey)
    /// Any decode of a source.
    case decode(SourceKey)
    /// Any decode of the entry that an external cache returned for a source under a given text. It
    /// isn't evidence against the source, whose bytes may differ.
    case kept(SourceKey, text: String)
    /// A rendering of a drawing for a specific need.
    case drawing(SourceKey, DecodeNeed)
    /// All renderings of a drawing, at any size.
    case drawings(SourceKey)
    /// A transform of a source with specific steps and output.
    case transform(ResultKey)
    /// The output of a serializer for any input derived from a source.
    case transcode(SourceKey, OutputOptions)

    /// The source of the bytes.
    var source: SourceKey {
        switch self {
        case .fetch(let source), .decode(let source), .kept(let source, _),
            .drawing(let source, _), .drawings(let source), .transcode(let source, _):
            source
        case .transform(let result): result.decode.source
        }
    }

    /// A more general suspect that shares this one's evidence and whose quarantine also applies to
    /// this one.
    var wider: Suspect? {
        if case .drawing(let source, _) = self { return .drawings(source) }
        return nil
    }

    /// The evidence weight that leads to quarantine: two crashes, or for drawings two sizes with
    /// two crashes each.
    var weightMax: Int {
        let ofOne = 2 * Evidence.crash.weight
        if case .drawings = self { return 2 * ofOne }
        return ofOne
    }

    /// The stage that runs the operation.
    var stage: JobStage {
        switch self {
        case .fetch: .fetch
        case .decode, .kept, .drawing, .drawings: .decode
        case .transform, .transcode: .transform
        }
    }
}

/// A kind of evidence against content (SEMANTICS §7.5).
enum Evidence: Hashable, Sendable {
    /// The job crashed its worker, stalled its loop or used more CPU time than any image needs; or
    /// the image was not what the worker declared.
    case crash
    /// The worker vanished without a record, as after a kill by the kernel's OOM killer.
    case loss
    /// A decoder exceeded its time limit or its process had to be killed. A legitimate image may do
    /// so on a busy machine, so quarantine requires more of these.
    case overrun

    var weight: Int {
        switch self {
        case .crash, .loss: 2
        case .overrun: 1
        }
    }
}

// Quarantine of work that crashes workers (SEMANTICS §7.5).
extension Dispatcher {
    /// Records evidence after the worker that held the job crashed or hung and its record names the
    /// job. SIGBUS is not evidence: readers map memory that its producer might have truncated.
    func accuse(_ job: ActiveJob, _ crash: CrashRecord) {
        if crash.cause != .signal(Self.busError), !job.isExpendable { charge(job) }
        switch crash.cause {
        case .cancelledHard:
            if isOverrun(job) { accuse(job, .overrun) }
        case .signal(Self.busError): shared.counters.crashes += 1
        case .signal, .stoodStill, .didNotStop:
            shared.counters.crashes += 1
            accuse(job, .crash)
        }
    }

    /// Records evidence after the worker that held the job vanished without a record.
    func accuseOfLoss(_ job: ActiveJob) {
        guard !job.isExpendable else { return }
        charge(job)
        accuse(job, .loss)
    }

    /// Charges the flow whose share the job used for the lost worker. Other kinds of workers run
    /// many jobs at a time and use different units of cost.
    private func charge(_ job: ActiveJob) {
        guard job.kind == .decode || job.kind == .transform else { return }
        jobs.owe(job, limits.lostWorkerCost)
    }

    private func accuse(_ job: ActiveJob, _ evidence: Evidence) {
        if let suspect = job.suspect { accuse(suspect, evidence) }
    }

    /// Records evidence; if the suspect becomes quarantined, all jobs that need the same work fail.
    func accuse(_ suspect: Suspect, _ evidence: Evidence) {
        guard quarantine.accuse(suspect, evidence, at: now, numbers: &lastDenial) else {
            return
        }
        for id in jobs.ids {
            guard let job = jobs[id], job.isWanted, let suspect = job.suspect,
                quarantine.holds(suspect, at: now)
            else { continue }
            fail(job, Self.poisoned)
            abandon(id)
        }
    }

    /// Records evidence if a decoder stopped at the end of its time without being told to for
    /// another reason.
    func accuseIfOutOfTime(_ job: ActiveJob, _ result: JobResult) {
        guard case .failed(let error) = result, error.code == .cancelled,
            job.stoppedAt.map({ $0 >= job.sent.deadline }) ?? true, isOverrun(job)
        else { return }
        accuse(job, .overrun)
    }

    /// Whether a decode took long enough to count against the image. The duration of a transform
    /// depends on the request, that of a transfer on the origin.
    private func isOverrun(_ job: ActiveJob) -> Bool {
        job.kind == .decode && !job.isExpendable
            && job.heldSince.adding(milliseconds: limits.overrunMilliseconds) <= now
    }

    /// Discards evidence after a success. A transformer's output is judged only once the cache has
    /// read it. Expendable jobs prove nothing because they use incomplete data, and decoding a
    /// header proves nothing about the pixels.
    func acquit(_ job: ActiveJob, _ result: JobResult) {
        guard !quarantine.isEmpty, !job.isExpendable else { return }
        if case .decoded(let image) = result, image.frames.isEmpty { return }
        if let suspect = job.suspect, job.kind != .transform {
            quarantine.acquit(suspect, at: now)
        }
        if let maker = job.submission.maker { quarantine.acquit(maker, at: now) }
    }

    /// Whether the work is quarantined.
    func isQuarantined(_ suspect: @autoclosure () -> Suspect) -> Bool {
        quarantine.holds(suspect(), at: now)
    }

    /// Whether the work has crashed a worker without a later success. Optional operations on it are
    /// then skipped.
    func isSuspected(_ suspect: @autoclosure () -> Suspect) -> Bool {
        quarantine.suspects(suspect(), at: now)
    }

    /// The quarantined work, in no particular order.
    var quarantined: [FailureCacheReport.Entry] { quarantine.entries(at: now) }

    /// Clears the suspicion of a URL, or of everything. Returns the number of quarantined entries
    /// removed.
    func forgive(_ url: String?) -> Int { quarantine.remove(url, at: now) }

    /// SIGBUS.
    private static let busError: Int32 = 7

    static let poisoned = ImageError(
        .poisoned,
        "this content made workers crash or hang repeatedly and is temporarily blocked; "
            + "imagebus failure-cache lists and removes it")
}
