import ImageModel
import Messages
import Tables

/// What killed workers, and is therefore not tried for a while (SEMANTICS §7.5).
///
/// Evidence is a record that names the job: of the worker's own fault handler, of a worker whose
/// work did not stop, of `serve` where a loop stood still, or of the cache where the image is not
/// what was said. Two of them for one suspect, with no success between, quarantine it. A process
/// that was killed from outside, or vanished, leaves no record and is no evidence, however often
/// it happens.
struct Quarantine: Sendable {
    /// Crash records by suspect.
    private var table: DenyList<Suspect, Int>

    /// Crash records that quarantine a suspect.
    static let crashesMax = 2

    /// `entriesMax` suspects; `milliseconds` until one is forgotten (`DenyList`).
    init(entriesMax: Int, milliseconds: Int) {
        table = DenyList(entriesMax: entriesMax, milliseconds: milliseconds)
    }

    /// Whether nothing is held against anything, as hardly ever.
    var isEmpty: Bool { table.isEmpty }

    /// Suspects that are not tried now.
    func count(at now: Instant) -> Int {
        table.live(at: now).count { Self.isCondemned($0.entry) }
    }

    /// Whether it is not tried now.
    func holds(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        // Without any record the key is not even made.
        guard !table.isEmpty, let entry = table.entry(suspect(), at: now) else { return false }
        return Self.isCondemned(entry)
    }

    /// Whether anything is held against it, be it too little to quarantine it.
    func suspects(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        !table.isEmpty && table.entry(suspect(), at: now) != nil
    }

    /// A worker crashed with it. Returns whether it is quarantined.
    mutating func accuse(_ suspect: Suspect, at now: Instant, numbers: inout UInt64) -> Bool {
        let crashes = (table.entry(suspect, at: now)?.value ?? 0) + 1
        table.put(
            suspect, crashes, url: suspect.source.bareURL, at: now, numbers: &numbers)
        return holds(suspect, at: now)
    }

    /// It went well: what was held against it is void.
    mutating func acquit(_ suspect: Suspect, at now: Instant) {
        guard let entry = table.entry(suspect, at: now), !Self.isCondemned(entry) else { return }
        table.remove(suspect)
    }

    /// Those that are not tried, in no order.
    func entries(at now: Instant) -> [BlacklistReport.Entry] {
        table.live(at: now).filter { Self.isCondemned($0.entry) }.map { suspect, entry in
            BlacklistReport.Entry(
                number: entry.number, url: entry.shownURL, operation: suspect.stage.name,
                reason: .poisoned, expiresInMilliseconds: entry.millisecondsLeft(at: now))
        }
    }

    /// Forgives a URL, or everything. Returns how many were not tried.
    mutating func remove(_ url: String?, at now: Instant) -> Int {
        table.remove(at: now) { url.map($0.isNamed) ?? true }.count { Self.isCondemned($0) }
    }

    private static func isCondemned(_ entry: DenyList<Suspect, Int>.Entry) -> Bool {
        entry.value >= crashesMax
    }
}
