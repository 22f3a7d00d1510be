import ImageModel
import Messages
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
