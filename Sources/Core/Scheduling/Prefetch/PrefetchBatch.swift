import ImageModel
import Messages

/// A list of URLs that a client will want (sdwebimage.md §8). Most of them wait here as texts; a
/// few at a time are live requests, its members, whose ends are counted and delivered to nobody.
///
///     gathering ──last part──► complete ──nothing waits, nothing runs──► final report
///         └───────────────────────┴──cancelled, refused, client gone──► gone
struct PrefetchBatch: Sendable {
    typealias ID = SlotTable<PrefetchBatch>.ID

    /// A URL that was not begun yet.
    struct Item: Sendable {
        let url: String
        /// How it is loaded, unless as the others are.
        let member: PrefetchMember?
    }

    let client: ClientID
    let token: Token
    /// How each URL is loaded.
    private let template: ImageRequest
    private let terms: LoadTerms
    /// The class of its URLs: low, unless they are to be high (sdwebimage.md §8), or its client
    /// said otherwise since.
    var priority: Priority
    /// URLs that may be live at a time.
    let concurrency: Int
    private(set) var waiting = Fifo<Item>()
    private(set) var waitingBytes = 0
    /// Live requests.
    var members = SeatList<LiveRequest.ID>()
    /// Whether no more URLs follow.
    private(set) var isComplete = false
    private(set) var total = 0
    private(set) var finished = 0
    private(set) var skipped = 0
    /// Whether a report is on its way at the end of this event.
    var owesReport = false

    /// The first part of a batch; its URLs are added like those of the others.
    init(_ request: PrefetchRequest, _ terms: LoadTerms, of client: ClientID) {
        self.client = client
        token = request.batch
        template = request.image
        self.terms = terms
        priority = request.image.options.contains(.highPriority) ? .high : .low
        concurrency =
            request.concurrency == 0
            ? RequestLimits.prefetchConcurrency : Int(request.concurrency)
    }

    /// Whether everything has ended.
    var hasEnded: Bool { isComplete && waiting.count == 0 && members.isEmpty }

    /// Whether it has a URL to begin, and may.
    var mayBegin: Bool { waiting.count > 0 && members.count < concurrency }

    /// How one of its URLs is loaded.
    func image(of item: Item) -> ImageRequest {
        var image = item.member?.image ?? template
        if item.member == nil { image.url = SourceURL.percentEncodingNonASCII(item.url) }
        image.priority = priority
        return image
    }

    /// On what terms it is.
    func terms(of item: Item) -> LoadTerms { item.member?.terms ?? terms }

    /// More URLs, perhaps the last ones.
    mutating func add(_ items: [Item], isLast: Bool) {
        for item in items {
            waiting.append(item)
            waitingBytes += item.url.utf8.count
        }
        total += items.count
        isComplete = isLast
    }

    /// The next URL, which waits no longer.
    mutating func next() -> Item? {
        let item = waiting.popFirst()
        waitingBytes -= item?.url.utf8.count ?? 0
        return item
    }

    /// A URL has ended.
    mutating func ended(isSkipped: Bool) {
        finished += 1
        if isSkipped { skipped += 1 }
    }

    /// How far it is. What has not ended is `cancelled` in the last report.
    func report(isFinal: Bool) -> PrefetchReport {
        PrefetchReport(
            batch: token, total: UInt64(total), finished: UInt64(finished),
            skipped: UInt64(skipped), cancelled: isFinal ? UInt64(total - finished) : 0,
            isFinal: isFinal)
    }
}
