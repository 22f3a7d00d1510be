import Model

/// All composite cache jobs, and the state of external caches.
struct CompositeCacheJobs {
    var jobs: [JobID: CompositeCacheJob] = [:]
    /// The composite job that owns each job.
    var owners: [JobID: CompositeCacheJob] = [:]
    /// Composite jobs whose hit the built-in cache is storing.
    var promoting: [JobID: CompositeCacheJob] = [:]
    var alarms = AlarmQueue<JobID>()
    /// The number of stores to external caches in flight, by text.
    private(set) var storing: [String: Int] = [:]
    /// Texts whose removal from external caches failed. Hits for them are distrusted until they
    /// have been removed. Oldest first.
    private var distrusted: [String: UInt64] = [:]
    private var distrustQueue = Deque<(text: String, serial: UInt64)>()
    private var lastDistrust: UInt64 = 0
    /// By pool.
    var circuits: [String: CacheCircuit] = [:]
    private(set) var metrics: [String: [ExternalCacheMetric: UInt64]] = [:]

    /// The largest number of distrusted texts; those beyond it may be served once more.
    private static let distrustedMax = 65_536

    var isEmpty: Bool {
        jobs.isEmpty && owners.isEmpty && storing.isEmpty && promoting.isEmpty
    }

    /// Oldest first.
    var all: [CompositeCacheJob] { jobs.values.sorted { $0.id < $1.id } }

    /// Removes a finished job and disowns its parts.
    mutating func remove(_ job: CompositeCacheJob) {
        job.isOver = true
        (jobs[job.id], promoting[job.id]) = (nil, nil)
        for part in job.running.keys { owners[part] = nil }
    }

    // MARK: - Stores in flight

    mutating func beganStore(of text: String) { storing[text, default: 0] += 1 }

    /// Records the end of a store. Returns the jobs whose queries may continue.
    mutating func endedStore(of text: String) -> [CompositeCacheJob] {
        guard let count = storing[text] else { return [] }
        storing[text] = count > 1 ? count - 1 : nil
        return count > 1 ? [] : all.filter { $0.held?.text == text }
    }

    // MARK: - Distrusted texts

    func isDistrusted(_ text: String) -> Bool { !distrusted.isEmpty && distrusted[text] != nil }

    mutating func distrust(_ text: String) {
        guard distrusted[text] == nil else { return }
        lastDistrust += 1
        distrusted[text] = lastDistrust
        distrustQueue.append((text, lastDistrust))
        while distrustQueue.count > Self.distrustedMax, let oldest = distrustQueue.popFirst() {
            // A text that was trusted again and then distrusted has a later entry.
            if distrusted[oldest.text] == oldest.serial { distrusted[oldest.text] = nil }
        }
    }

    mutating func trust(_ text: String) {
        if !distrusted.isEmpty { distrusted[text] = nil }
    }

    // MARK: - Metrics

    mutating func count(_ pool: String, _ metric: ExternalCacheMetric) {
        metrics[pool, default: [:]][metric, default: 0] += 1
    }

    /// Metrics of external caches, by pool.
    var counters: [StatusReport.Counter] {
        metrics.sorted { $0.key < $1.key }.flatMap { pool, counts in
            let rows = ExternalCacheMetric.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
            let isOpen = circuits[pool]?.isOpen == true
            return (rows + [("LeftAlone", isOpen ? 1 : 0)]).map {
                StatusReport.Counter(name: "foreignCache\($0.0).\(pool)", value: $0.1)
            }
        }
    }
}

/// A circuit breaker for an external cache. After several consecutive timeouts or failures the
/// cache isn't queried for a while, so that requests don't wait for it each time.
///
///     closed ──5 consecutive failures──► open ──1 s──► trial query ──answer──► closed
///                                         ▲                │
///                                         └──backoff × 2───┘ failure
struct CacheCircuit: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// Queries are sent; the payload is the number of consecutive failures.
        case closed(failures: Int)
        /// No queries are sent until then; `pause` is the current backoff in milliseconds.
        case open(until: Instant, pause: Int)
        /// A trial query is in flight; if it isn't answered in time, another one is sent.
        case trying(until: Instant, pause: Int)
    }

    private var state = State.closed(failures: 0)

    /// The number of consecutive failures that opens the circuit.
    static let failuresMax = 5
    /// The initial and the largest backoff in milliseconds.
    static let pauses = 1_000...30_000

    /// Whether the circuit is open or being tried.
    var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .trying: true
        }
    }

    /// Returns whether a query may be sent now; if so, the caller must send it.
    mutating func admits(at now: Instant) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return false }
            state = .trying(until: now.adding(milliseconds: pause), pause: pause)
            return true
        }
    }

    /// Records a timely answer.
    mutating func answered() { state = .closed(failures: 0) }

    /// Records a timeout, a failure, or the loss of the worker.
    mutating func failed(at now: Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.failuresMax:
            state = .closed(failures: failures + 1)
        case .closed: open(for: Self.pauses.lowerBound, at: now)
        // The query was sent before the circuit opened.
        case .open: break
        case .trying(_, let pause): open(for: min(2 * pause, Self.pauses.upperBound), at: now)
        }
    }

    private mutating func open(for pause: Int, at now: Instant) {
        state = .open(until: now.adding(milliseconds: pause), pause: pause)
    }
}

/// What is counted of the operations on an external cache since the start. The raw values are parts
/// of the names of status counters.
enum ExternalCacheMetric: String, CaseIterable {
    /// Queries answered with bytes.
    case hits = "Hits"
    /// Queries answered without bytes.
    case misses = "Misses"
    /// Completed stores, removals and entry operations.
    case writes = "Writes"
    /// Failed operations, and those lost with a worker.
    case errors = "Errors"
    /// Operations that timed out.
    case slow = "Slow"
    /// Operations skipped because no worker was connected, the queue was full, or the circuit was
    /// open. They count as misses or as stores not performed.
    case skipped = "Skipped"
    /// Hits whose result the built-in cache rejected because it wasn't the declared image.
    case refused = "Refused"
    /// Hits stored in the built-in cache.
    case promoted = "Promoted"
}
