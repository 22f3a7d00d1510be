import ImageModel
import Messages

// What kills workers is not tried again (SEMANTICS §7.5).
extension Scheduler {
    /// The worker that held the job crashed or hung, and its record names the job. SIGBUS is no
    /// evidence: readers map what its producer might have cut off.
    mutating func accuse(_ job: ActiveJob, _ crash: CrashRecord) {
        counters.crashes += 1
        guard let suspect = job.suspect, crash.cause != .signal(Self.busError) else { return }
        accuse(suspect)
    }

    /// Evidence: the second time without a success between, everything that needs the same work
    /// ends.
    mutating func accuse(_ suspect: Suspect) {
        guard quarantine.accuse(suspect, at: now, numbers: &lastShunned) else { return }
        for id in jobs.keys.sorted(by: { $0.value < $1.value }) {
            guard let job = jobs[id], job.suspect == suspect, let purpose = job.purpose
            else { continue }
            condemn(job, purpose)
        }
    }

    private mutating func condemn(_ job: ActiveJob, _ purpose: ActiveJob.Purpose) {
        switch purpose {
        case .source(let node): dissolve(node, .fail(Self.poisoned))
        case .decode(let node): dissolve(node, .fail(Self.poisoned))
        case .transform(let node): dissolve(node, .fail(Self.poisoned))
        case .transcode(let node): ended(node, storing: .none)
        case .lookup, .original, .delivery, .entry, .removal, .probe, .weighing: break
        }
    }

    /// Whether making the result would need work that is not tried.
    func isPoisoned(_ name: ResultName) -> Bool {
        isPoisoned(name.decode) || quarantine.holds(.transform(name.key), at: now)
    }

    /// The same of pixels.
    func isPoisoned(_ name: Sourced<DecodeKey>) -> Bool {
        let source = name.key.source
        if quarantine.holds(.decode(source), at: now) { return true }
        return name.origin.isFetched && quarantine.holds(.fetch(source), at: now)
    }

    /// SIGBUS.
    private static let busError: Int32 = 7

    static let poisoned = ImageError(
        .poisoned,
        "workers crashed or hung with this content more than once: it is not tried for a while; "
            + "imagebus blacklist lists and removes it")
}
