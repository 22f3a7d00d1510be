import ImageModel
import Messages
import Tables

/// One question to external caches: what they know of the freshness of an image that is stale here.
struct ValidityNode: Node {
    typealias Provider = ValidityNode
    static var table: WritableKeyPath<Deriver, NodeTable<ValidityNode>> { \.validities }

    /// The image that waiters have.
    struct Key: Hashable, Sendable {
        /// The text of the result.
        let text: String
        /// What identifies the bytes of its original.
        let mark: BodyMark
    }

    let key: Key
    /// Texts that were not asked for yet, under which caches may know the original.
    private var texts: ArraySlice<String>
    /// When what is known here of caching was said, in milliseconds since 1970.
    let bornMilliseconds: Int64
    var consumers = WaiterList<Waiter>()
    private(set) var job: JobID?
    var timings = StageTimings()
    /// Of the request that began it.
    let logContext: LogContext
    /// An operator removed entries meanwhile: an answer means nothing then.
    private(set) var isOutdated = false

    init(_ key: Key, _ texts: [String], bornMilliseconds: Int64, _ logContext: LogContext) {
        self.key = key
        self.texts = texts[...]
        self.bornMilliseconds = bornMilliseconds
        self.logContext = logContext
    }

    /// The text to be asked for next.
    mutating func nextText() -> String? { texts.popFirst() }

    mutating func asked(_ job: JobID) { self.job = job }

    mutating func outdate() { isOutdated = true }

    /// Whether that is news about the same bytes.
    func isNews(_ validity: Validity) -> Bool {
        guard !isOutdated, BodyMark(validity).names(key.mark), let caching = validity.caching
        else { return false }
        return caching.age.bornMilliseconds > bornMilliseconds
    }

    var remains: Remains { .nothing }
}
