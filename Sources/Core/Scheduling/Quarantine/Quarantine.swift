import ImageModel
import Messages

/// What killed workers, and is therefore not tried for a while (DESIGN §6).
///
/// Evidence is a crash record: the worker's own fault handler named the job. Two of them for one
/// suspect, with no success between, quarantine it. A process that was killed from outside, or
/// vanished, leaves no record and is no evidence, however often it happens. The table is keyed by
/// the standard library's hash, whose key is drawn anew in every process: collisions cannot be
/// prepared. It lives as long as the coordinator.
struct Quarantine: Sendable {
    private struct Record {
        let number: UInt64
        let text: String
        var crashes = 1
        var expiry: Instant

        var isCondemned: Bool { crashes >= Quarantine.crashesMax }

        /// Whether its suspect is not tried at that moment.
        func holds(at now: Instant) -> Bool { isCondemned && expiry > now }
    }

    private let entriesMax: Int
    private let milliseconds: Int
    private var records: [Suspect: Record] = [:]
    private var lastNumber: UInt64 = 0

    /// Crash records that quarantine a suspect.
    static let crashesMax = 2

    /// `entriesMax` suspects, the oldest makes room; `milliseconds` until one is forgotten, give or
    /// take a tenth, so that what came together does not come back together.
    init(entriesMax: Int, milliseconds: Int) {
        self.entriesMax = entriesMax
        self.milliseconds = milliseconds
    }

    /// Suspects that are not tried now.
    func count(at now: Instant) -> Int {
        records.values.count { $0.holds(at: now) }
    }

    /// Whether it is not tried now.
    func holds(_ suspect: @autoclosure () -> Suspect, at now: Instant) -> Bool {
        // Hardly ever is there a record at all: then the key is not even made.
        !records.isEmpty && records[suspect()]?.holds(at: now) == true
    }

    /// A worker crashed with it; `text` names it for people. Returns whether it is quarantined.
    mutating func accuse(_ suspect: Suspect, _ text: String, at now: Instant) -> Bool {
        if let record = records[suspect], record.expiry <= now { records[suspect] = nil }
        if records[suspect] == nil {
            makeRoom(at: now)
            lastNumber += 1
            records[suspect] = Record(
                number: lastNumber, text: text, expiry: expiry(lastNumber, from: now))
        } else if let number = records[suspect]?.number {
            let expiry = expiry(number, from: now)
            records[suspect]?.crashes += 1
            records[suspect]?.expiry = expiry
        }
        return holds(suspect, at: now)
    }

    /// It went well: what was held against it is void.
    mutating func acquit(_ suspect: @autoclosure () -> Suspect) {
        guard !records.isEmpty else { return }
        let suspect = suspect()
        if records[suspect]?.isCondemned == false { records[suspect] = nil }
    }

    /// Those that are not tried, by number.
    func entries(after number: UInt64, at now: Instant) -> [BlacklistReport.Entry] {
        let held = records.filter { $0.value.holds(at: now) && $0.value.number > number }
        return held.sorted { $0.value.number < $1.value.number }.map { suspect, record in
            BlacklistReport.Entry(
                number: record.number, url: record.text, operation: suspect.stage.name,
                reason: .poisoned,
                expiresInMilliseconds: UInt64(record.expiry.milliseconds(since: now)))
        }
    }

    /// Forgives what is named so; with credentials a key has a suffix that a URL has not. Returns
    /// how many.
    mutating func remove(_ text: String) -> Int {
        remove { $0 == text || $0.hasPrefix(text + "-Auth(") }
    }

    /// Forgives everything. Returns how many.
    mutating func removeAll() -> Int { remove { _ in true } }

    private mutating func remove(where isMeant: (String) -> Bool) -> Int {
        let before = records.values.count(where: \.isCondemned)
        records = records.filter { !isMeant($0.value.text) }
        return before - records.values.count(where: \.isCondemned)
    }

    private mutating func makeRoom(at now: Instant) {
        guard records.count >= entriesMax else { return }
        records = records.filter { $0.value.expiry > now }
        guard records.count >= entriesMax,
            let oldest = records.min(by: { $0.value.number < $1.value.number })
        else { return }
        records[oldest.key] = nil
    }

    /// The jitter comes from the number, by Fibonacci hashing: no clock, no dice.
    private func expiry(_ number: UInt64, from now: Instant) -> Instant {
        let dice = Int((number &* 0x9E37_79B9_7F4A_7C15) >> 48)
        let tenth = milliseconds / 10
        return now.adding(milliseconds: milliseconds - tenth + 2 * tenth * dice / 65_535)
    }
}
