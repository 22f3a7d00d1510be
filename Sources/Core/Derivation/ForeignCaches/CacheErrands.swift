import Messages
import Tables

/// All errands, whose jobs are whose, and what is known of caches of others.
struct CacheErrands: Sendable {
    private var errands: [JobID: CacheErrand] = [:]
    /// Whose a job is.
    private var owners: [JobID: JobID] = [:]
    private var alarms = Heap<Alarm>()
    /// Stores at others that are under way, by text, and the queries that wait for them.
    private(set) var storing: [String: Int] = [:]
    private var holding: [String: [JobID]] = [:]
    /// Texts that could not be removed from caches of others: what these have is not believed until
    /// they were. The oldest first.
    private var doubted: [String: UInt64] = [:]
    private var doubts = Fifo<(text: String, serial: UInt64)>()
    private var lastDoubt: UInt64 = 0
    /// Errands that promote a hit.
    private var promotions: Set<JobID> = []
    /// By pool.
    var circuits: [String: CacheCircuit] = [:]
    private(set) var figures: [String: ForeignCacheFigures] = [:]

    private struct Alarm: Comparable, Sendable {
        let at: Instant
        let errand: JobID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.errand) < (right.at, right.errand)
        }
    }

    /// Texts that are not believed, at most: those beyond it may be served once more.
    private static let doubtsMax = 65_536

    // MARK: - Errands

    var isEmpty: Bool {
        errands.isEmpty && owners.isEmpty && storing.isEmpty && holding.isEmpty
            && promotions.isEmpty
    }

    /// The oldest first.
    var ids: [JobID] { errands.keys.sorted() }

    /// Whether that is the number of one.
    func contains(_ id: JobID) -> Bool { errands[id] != nil }

    subscript(id: JobID) -> CacheErrand? {
        _read { yield errands[id] }
        _modify { yield &errands[id] }
    }

    mutating func begin(_ id: JobID, _ errand: CacheErrand) { errands[id] = errand }

    /// It is over; its jobs are nobody's any more.
    mutating func remove(_ id: JobID) -> CacheErrand? {
        guard let errand = errands.removeValue(forKey: id) else { return nil }
        if errand.promotion != nil { promotions.remove(id) }
        for job in errand.running.keys { owners[job] = nil }
        if let copy = errand.copying { owners[copy.job] = nil }
        if let text = errand.held?.text { stopHolding(id, text) }
        return errand
    }

    // MARK: - Jobs

    /// Whose the job is; `nil` where it is no errand's.
    func owner(of job: JobID) -> JobID? { owners.isEmpty ? nil : owners[job] }

    mutating func own(_ job: JobID, by id: JobID) { owners[job] = id }

    mutating func disown(_ job: JobID) { owners[job] = nil }

    // MARK: - Promotions

    /// Those that promote a hit, the oldest first.
    var promoting: [JobID] { promotions.isEmpty ? [] : promotions.sorted() }

    /// Our own cache takes a hit. One that is over already is ignored.
    mutating func beganPromotion(_ id: JobID, _ promotion: Promotion) {
        guard errands[id] != nil else { return }
        errands[id]?.promotion = promotion
        promotions.insert(id)
    }

    /// It took it, or is not to keep it any more.
    mutating func endedPromotion(_ id: JobID) {
        if promotions.remove(id) != nil { errands[id]?.promotion = nil }
    }

    // MARK: - Time

    /// The first alarm; it may be of an errand that is over.
    var nextAlarm: Instant? { alarms.first?.at }

    mutating func setAlarm(of id: JobID, at moment: Instant) {
        errands[id]?.alarm = moment
        alarms.push(Alarm(at: moment, errand: id))
    }

    /// The errand whose alarm rings; `nil` where that does not count any more.
    mutating func takeFirstAlarm() -> JobID? {
        guard let alarm = alarms.pop(), errands[alarm.errand]?.alarm == alarm.at else {
            return nil
        }
        return alarm.errand
    }

    /// Throws out alarms that do not count: those in front at once, others when they are the
    /// majority.
    mutating func forgetAlarms() {
        while let alarm = alarms.first, errands[alarm.errand]?.alarm != alarm.at {
            _ = alarms.pop()
        }
        guard alarms.count > 2 * errands.count + 64 else { return }
        alarms.keep { [errands] in errands[$0.errand]?.alarm == $0.at }
    }

    // MARK: - Stores under way

    mutating func beganStore(of text: String) { storing[text, default: 0] += 1 }

    /// A store has ended; the queries that may go on now.
    mutating func endedStore(of text: String) -> [JobID] {
        guard let count = storing[text] else { return [] }
        storing[text] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : holding.removeValue(forKey: text) ?? []
    }

    /// A query waits for what is being stored under its text.
    mutating func hold(_ id: JobID, until text: String) { holding[text, default: []].append(id) }

    private mutating func stopHolding(_ id: JobID, _ text: String) {
        holding[text]?.removeAll { $0 == id }
        if holding[text]?.isEmpty == true { holding[text] = nil }
    }

    /// A query does not wait any more.
    mutating func release(_ id: JobID) {
        if let text = errands[id]?.held?.text { stopHolding(id, text) }
        errands[id]?.held = nil
    }

    // MARK: - What is not believed

    func isDoubted(_ text: String) -> Bool { !doubted.isEmpty && doubted[text] != nil }

    mutating func doubt(_ text: String) {
        guard doubted[text] == nil else { return }
        lastDoubt += 1
        doubted[text] = lastDoubt
        doubts.append((text, lastDoubt))
        while doubts.count > Self.doubtsMax, let oldest = doubts.popFirst() {
            // One that was believed since and is doubted again has a later turn.
            if doubted[oldest.text] == oldest.serial { doubted[oldest.text] = nil }
        }
    }

    mutating func believe(_ text: String) {
        if !doubted.isEmpty { doubted[text] = nil }
    }

    // MARK: - Figures

    mutating func count(_ pool: String, _ figure: WritableKeyPath<ForeignCacheFigures, UInt64>) {
        figures[pool, default: ForeignCacheFigures()][keyPath: figure] += 1
    }
}
