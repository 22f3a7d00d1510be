import Messages
import Tables

/// Lists of URLs that will be wanted, and whose they are.
struct Prefetching: Sendable {
    var batches = SlotTable<PrefetchBatch>()
    var tokens: [Token: PrefetchBatch.ID] = [:]
    var clients: [ClientID: Prefetcher] = [:]
    /// Clients that may begin URLs, in turn.
    var awake = Fifo<ClientID>()
    /// Batches of which a report is due at the end of the event.
    var owing: [PrefetchBatch.ID] = []

    /// Whether nothing is wanted or owed.
    var isEmpty: Bool {
        batches.count == 0 && tokens.isEmpty && awake.count == 0 && owing.isEmpty
    }
}
