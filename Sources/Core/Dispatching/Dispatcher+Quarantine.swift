package import ImageModel
package import Messages

// What kills workers is not tried again (SEMANTICS §7.5).
extension Dispatcher {
    /// The worker that held the job crashed or hung, and its record names the job. SIGBUS is no
    /// evidence: readers map what its producer might have cut off.
    mutating func accuse(_ job: ActiveJob, _ crash: CrashRecord) {
        figures.crashes += 1
        guard let suspect = job.suspect, crash.cause != .signal(Self.busError) else { return }
        accuse(suspect)
    }

    /// Evidence: the second time without a success between, everything that needs the same work
    /// ends.
    mutating func accuse(_ suspect: Suspect) {
        guard quarantine.accuse(suspect, at: now, numbers: &numbers.denial) else { return }
        for id in jobs.ids {
            guard let job = jobs[id], job.suspect == suspect, job.isWanted else { continue }
            complete(.failed(Completion.Ended(job), Self.poisoned))
            abandon(id)
        }
    }

    /// The job went well: what was held against such work is void. What a transformer made is only
    /// seen when the cache has read it. What is expendable was made of less than the whole, and
    /// says nothing of that.
    mutating func acquit(_ job: ActiveJob) {
        guard !quarantine.isEmpty, !job.isExpendable else { return }
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
