import Model

@testable import Coordinator

// Batches and slots.
extension Scheduler {
    func auditPrefetches(_ check: (Bool, String) -> Void) {
        check(prefetching.owing.isEmpty, "reports go out at the end of an event")
        for (token, batch) in prefetching.batches {
            check(batch.token == token, "a token names its batch")
            check(tokens[batch.token] == nil, "a token names one thing")
            check(clients[batch.client] != nil, "a batch has a client")
            check(
                prefetching.clients[batch.client]?.batches.contains { $0 === batch } == true,
                "a batch has its turn")
            check(!batch.hasEnded, "what has ended is not there")
            check(
                batch.progress.total - batch.progress.finished
                    == UInt64(batch.waiting.count + batch.members.count),
                "every URL waits, runs or has ended")
            check(batch.members.count <= batch.concurrency, "as many at a time as are wanted")
        }
        for prefetcher in prefetching.clients.values {
            check(!prefetcher.isEmpty, "a client that prefetches nothing is forgotten")
            let own = prefetcher.batches
            let most = own.map(\.concurrency).max() ?? 0
            let running = own.reduce(0) { $0 + $1.members.count }
            // The batch with the higher limit may have ended since.
            check(running <= RequestLimits.prefetchConcurrencyMax, "as many as one may want")
            let mayBegin = running < most && own.contains(where: \.mayBegin)
            check(!mayBegin || prefetcher.isAwake, "a prefetcher that may begin a load is awake")
        }
        let awakened = prefetching.clients.values.count(where: \.isAwake)
        check(awakened == prefetching.awake.count, "awake prefetchers are in the queue")
        check(
            !wantsToPrefetch || nextDeadline.map { $0 <= now } == true,
            "what could be begun is begun soon")
    }

    func auditSlots(_ check: (Bool, String) -> Void) {
        for (client, record) in clients {
            for (slot, id) in record.slots {
                check(
                    requests.contains(id) && requests[id].client == client
                        && requests[id].slot == slot, "a slot has a live request of its own")
            }
        }
    }
}
