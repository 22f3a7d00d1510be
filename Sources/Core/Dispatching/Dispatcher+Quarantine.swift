package import ImageModel
package import Messages

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
