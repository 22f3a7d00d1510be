import Dispatching
import ImageModel
import Messages
import Tables

// The cancellation contract (SEMANTICS §8.1).
extension Scheduler {
    /// Ends a request or a batch of that client at once; after its terminal reply this does
    /// nothing.
    mutating func cancel(_ token: Token, of client: ClientID) {
        if let id = tokens[token] {
            if requests[id].client == client { end(id, Self.cancelled) }
        } else if let id = batchTokens[token], batches[id].client == client {
            cancelBatch(id)
        }
    }

    /// Ends the members that were admitted before, a few in each event; later ones are not touched.
    /// A batch is a group, too, named by its token.
    mutating func cancelGroup(_ group: GroupID, of client: ClientID) {
        cancelMembers(clients[client]?.members(of: group) ?? [], of: group, by: client)
        if let id = batchTokens[Token(group.value)], batches[id].client == client {
            cancelBatch(id)
        }
    }

    /// Ends a request or a batch of whomever.
    mutating func cancelAny(_ token: Token) {
        if let id = tokens[token] { return end(id, Self.cancelled) }
        if let id = batchTokens[token] { cancelBatch(id) }
    }

    /// Ends the members of a group of whomever; groups are drawn at random like tokens.
    mutating func cancelGroupOfAny(_ group: GroupID) {
        let members = requests.ids.filter { requests[$0].group == group }
        cancelMembers(members, of: group, by: nil)
        if let id = batchTokens[Token(group.value)] { cancelBatch(id) }
    }

    /// Nobody is there to be answered: requests end, a few in each event. What was detached goes
    /// on.
    mutating func clientLeft(_ client: ClientID) {
        guard let record = clients[client] else { return }
        dropInquiries(of: record)
        dropPrefetches(of: client)
        bulk.keep { if case .group(client, _, _) = $0.step { false } else { true } }
        clients[client] = nil
        releaseAll(of: client)
        let members = record.requests.members.filter { !requests[$0].isDetached }
        if !members.isEmpty { bulk.append(BulkWork(.departed(client), members)) }
    }

    /// Nobody wants it any more at that moment. Counted where no worker had what it waited for.
    /// What happened before counts first: who is about to go on is looked at then.
    mutating func expire(_ id: LiveRequest.ID) {
        if case .moving = requests[id].standing { return }
        if let job = awaitedJob(of: id), dispatcher.isWaiting(job) { counters.expired += 1 }
        end(id, Self.deadlineExceeded)
    }

    /// The job that has to end before the request gets on.
    private func awaitedJob(of id: LiveRequest.ID) -> JobID? {
        switch requests[id].standing {
        case .moving, .original, .transcode: return nil
        case .lookup(let node, _): return lookups[node].job
        case .overlays: return awaitedOverlayJob(of: id)
        case .result(let node, _):
            if let job = results[node].job { return job }
            guard let decode = results[node].decode else { return nil }
            return decodes[decode].job ?? decodes[decode].source.flatMap { sources[$0].job }
        }
    }

    /// A request ends before its work does.
    mutating func end(_ id: LiveRequest.ID, _ error: ImageError) {
        withdraw(id)
        reply(id, .failure(error))
    }

    /// Nobody waits for this request any more. Work that nobody else wants leaves the tables in
    /// the same step in which its worker is told, so that a newcomer gets new work.
    mutating func withdraw(_ id: LiveRequest.ID) {
        switch requests[id].standing {
        case .moving: if let block = requests[id].pending?.block { letGo(block) }
        case .lookup(let node, let seat):
            lookups[node].waiters.leave(seat)
            if lookups[node].waiters.isEmpty {
                retire(node)
            } else {
                retune(lookups[node].job, lookups[node].waiters.urgency)
            }
        case .overlays: leaveOverlays(id)
        case .result(let node, _):
            leaveResult(id)
            // Once the result exists, a cancel changes the reply and no longer the store.
            if !results[node].waiters.isEmpty { return spread(node) }
            if results[node].exists { waitsForSpace(node, false) } else { retire(node) }
        case .original(let node, let seat):
            sources[node].watchers.leave(seat)
            if let block = requests[id].pending?.block { letGo(block) }
        case .transcode(let node, let seat):
            transcodes[node].watchers.leave(seat)
            if let block = requests[id].pending?.block { letGo(block) }
        }
        requests[id].standing = .moving
        requests[id].pending = nil
    }

    // MARK: - Taking apart

    /// What becomes of the requests whose work was taken apart.
    enum Fate {
        /// They fail.
        case fail(ImageError)
        /// They go their next way, after work that took so long; the cache was asked for that text
        /// in vain, if it was asked.
        case onward(StageTimings, missed: String?)

        var missedText: String? {
            if case .onward(_, let text) = self { text } else { nil }
        }

        /// They begin again.
        case again
        /// They begin again through no fault of anybody.
        case afresh
        /// They have the right image already.
        case unmodified
    }

    mutating func dissolve(_ node: SourceNode.ID, _ fate: Fate) {
        for decode in sources[node].decodes.waiters where decodes.contains(decode) {
            dissolve(decode, fate)
        }
    }

    mutating func dissolve(_ node: DecodeNode.ID, _ fate: Fate) {
        let takers = decodes[node].takers.waiters
        for result in decodes[node].results.waiters { dissolve(result, fate) }
        for taker in takers { meet(fate, taker, of: node) }
    }

    /// The node is over; with the last result its decode is, and with the last decode its source.
    mutating func dissolve(_ node: ResultNode.ID, _ fate: Fate) {
        let waiters = results[node].waiters.waiters
        retire(node)
        later(.fate(fate), waiters, missed: fate.missedText)
    }

    /// What becomes of a request comes in its turn.
    mutating func meet(_ fate: Fate, _ id: LiveRequest.ID, isOvertaken: Bool) {
        switch fate {
        case .fail(let error): reply(id, .failure(error))
        case .again: moving.append(.again(id))
        case .afresh:
            leaveOverlays(id)
            requests[id].beginAfresh()
            moving.append(.onward(id))
        case .unmodified: reply(id, .notModified)
        case .onward(let timings, _):
            requests[id].timings += timings
            requests[id].missedOriginalTiers = requests[id].plan.originalQueryTiers
            goOn(id, isOvertaken: isOvertaken)
        }
    }

    static let cancelled = ImageError(.cancelled, "the request was cancelled")
    static let deadlineExceeded = ImageError(
        .deadlineExceeded, "the request took longer than its timeout")
}
