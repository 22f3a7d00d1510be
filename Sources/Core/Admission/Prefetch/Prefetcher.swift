import ImageModel
import Messages

/// The batches of one client. The limit is that of a prefetcher and not of a list, as upstream's
/// is. So all batches together run as many URLs as the one that may run the most.
struct Prefetcher: Sendable {
    /// Batches take turns: the first one that may begins its next URL, and goes to the end.
    private(set) var batches: [PrefetchBatch.ID] = []
    /// Live members of all batches.
    var running = 0
    /// URLs that wait in all batches, and their bytes.
    var waiting = 0
    var waitingBytes = 0
    /// Whether it is in the queue of clients that may begin URLs.
    var isAwake = false
    /// Batches that ended before their last part came, the oldest first. Parts of them that still
    /// come are passed over.
    private var cutShort: [Token] = []

    /// Batches whose parts are still passed over; of older ones none are on their way any more.
    private static let cutShortMax = 256

    /// Whether nothing has to be remembered.
    var isEmpty: Bool { batches.isEmpty && cutShort.isEmpty }

    mutating func join(_ batch: PrefetchBatch.ID) { batches.append(batch) }

    mutating func leave(_ batch: PrefetchBatch.ID) { batches.removeAll { $0 == batch } }

    /// A batch that just had its turn is the last one now.
    mutating func rotate(_ batch: PrefetchBatch.ID) {
        leave(batch)
        batches.append(batch)
    }

    /// A batch has ended, and parts of it may be on their way.
    mutating func cut(_ token: Token) {
        if cutShort.count >= Self.cutShortMax { cutShort.removeFirst() }
        cutShort.append(token)
    }

    /// Whether a part is of a batch that has ended; its last part is the last that is looked for.
    mutating func passesOver(_ request: PrefetchRequest) -> Bool {
        guard let index = cutShort.firstIndex(of: request.batch) else { return false }
        if request.isLast { cutShort.remove(at: index) }
        return true
    }
}
