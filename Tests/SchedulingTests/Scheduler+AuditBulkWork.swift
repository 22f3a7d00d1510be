import Model

@testable import Coordinator

extension BatchOperation {
    /// Whether its members are waiting only for their turn.
    var isMove: Bool {
        switch step {
        case .group, .departed, .progress, .partial: false
        case .outcome, .pending: true
        }
    }
}

extension Scheduler {
    /// A subscriber that waits nowhere has exactly one pending turn, and one without a client ends
    /// with its session.
    func auditBatchOperations(_ check: (Bool, String) -> Void) {
        var (moving, departing): ([LiveRequest.ID], Set<LiveRequest.ID>) = ([], [])
        for work in works {
            check(!work.isDone, "work that is done is over")
            let left = work.left.filter { requests.contains($0) }
            if work.isMove { moving += left }
            if case .departed(let client) = work.step {
                check(clients[client] == nil, "a session has ended")
                departing.formUnion(left)
            }
            if let block = work.block, left.isEmpty == false,
                workGraph.dispatcher.contains(block.worker)
            {
                check(hits.isPinned(block), "what is about to be told stays where it is")
            }
        }
        check(Set(moving).count == moving.count, "nobody has two turns")
        check(
            moving.allSatisfy { requests[$0].place == nil },
            "a request that has a turn waits nowhere")
        let standing = requests.ids.filter { requests[$0].place == nil }
        check(Set(standing) == Set(moving), "a request that waits nowhere has a turn")
        for id in requests.ids where hasLostSession(id) {
            check(departing.contains(id), "a request without a client leaves with its session")
        }
        check(!isUnfinished || nextDeadline.map { $0 <= now } == true, "it goes on at once")
    }

    /// Pending operations, the first one first.
    var works: [BatchOperation] {
        var (copy, all) = (pendingTransitions.batchOperations, [BatchOperation]())
        while let work = copy.popFirst() { all.append(work) }
        return all
    }
}

extension Hits {
    /// Whether a block may not be reused yet; small ones are not tracked.
    func isPinned(_ handle: BlockHandle) -> Bool {
        blocks.readers(of: handle).map { $0 > 0 } ?? true
    }
}
