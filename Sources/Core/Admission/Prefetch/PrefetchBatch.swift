import ImageModel
import Messages
import Tables

/// A list of URLs that a client will want (SEMANTICS §12.1). Most of them wait here as texts. A few
/// at a time are live requests, the members of the batch. Their ends are counted, and nothing is
/// delivered.
///
///     gathering ──last part──► complete ──nothing waits, nothing runs──► final report
///         └───────────────────────┴──cancelled, refused, client gone──► gone
struct PrefetchBatch: Tabled {
    typealias ID = SlotID<PrefetchBatch>

    let client: ClientID
    let token: Token
    /// How each URL is loaded.
    private let template: ImageRequest
    /// The class of its URLs: low, unless they are to be high (SEMANTICS §12.1), or its client
    /// said otherwise since.
    var priority: Priority
    /// URLs that may be live at a time.
    let concurrency: Int
    private(set) var waiting = Fifo<String>()
    /// What the waiting URLs cost in memory, as far as limits count it.
    private(set) var waitingBytes = 0
    /// Live requests.
    var members = SeatList<LiveRequest.ID>()
    /// Whether no more URLs follow.
    private(set) var isComplete = false
    private(set) var total = 0
    private(set) var finished = 0
    private(set) var skipped = 0
    /// The first URLs that were skipped.
    private var failures: [PrefetchFailure] = []
    private var ends = PrefetchEnds()
    /// Whether a report is on its way at the end of this event.
    var owesReport = false

    /// The first part of a batch; its URLs are added like those of the others.
    init(_ request: PrefetchRequest, of client: ClientID) {
        self.client = client
        token = request.batch
        template = request.image
        priority = request.image.options.contains(.highPriority) ? .high : .low
        concurrency =
            request.concurrency == 0
            ? RequestLimits.prefetchConcurrency : Int(request.concurrency)
    }

    /// Whether everything has ended.
    var hasEnded: Bool { isComplete && waiting.count == 0 && members.isEmpty }

    /// Whether it has a URL to begin, and may.
    var mayBegin: Bool { waiting.count > 0 && members.count < concurrency }

    /// How one of its URLs is loaded, before it is resolved.
    func image(of url: String) -> ImageRequest {
        var image = template
        image.url = url
        return image
    }

    /// What a URL that waits costs: its text, and what holds it.
    static func bytes(of url: String) -> Int {
        url.utf8.count + SchedulerLimits.prefetchOverheadBytes
    }

    /// More URLs, perhaps the last ones.
    mutating func add(_ urls: [String], isLast: Bool) {
        for url in urls {
            waiting.append(url)
            waitingBytes += Self.bytes(of: url)
        }
        total += urls.count
        isComplete = isLast
    }

    /// The next URL, which waits no longer.
    mutating func next() -> String? {
        let url = waiting.popFirst()
        waitingBytes -= url.map(Self.bytes) ?? 0
        return url
    }

    /// A URL has ended well.
    mutating func ended(from tier: CacheTypes) {
        finished += 1
        if tier != .none { ends.cached += 1 }
    }

    /// A URL is in no cache, and is asked for nowhere else.
    mutating func missed() {
        finished += 1
        ends.missed += 1
    }

    /// A URL has ended with an error.
    mutating func failed(_ url: String, _ error: ImageError) {
        finished += 1
        skipped += 1
        ends.failed(error.code)
        guard failures.count < PrefetchFailure.countMax else { return }
        failures.append(PrefetchFailure(url: url, error: error))
    }

    /// How far it is. What has not ended is `cancelled` in the last report.
    func report(isFinal: Bool) -> PrefetchReport {
        PrefetchReport(
            batch: token, total: UInt64(total), finished: UInt64(finished),
            skipped: UInt64(skipped), cancelled: isFinal ? UInt64(total - finished) : 0,
            isFinal: isFinal, failures: isFinal ? failures : [],
            ends: isFinal ? ends : PrefetchEnds())
    }
}
