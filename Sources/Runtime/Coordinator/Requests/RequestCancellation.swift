package import Model

// Cancellation (SEMANTICS §8.1).
extension Scheduler {
    /// Ends a request or batch of that client at once; has no effect after the terminal reply.
    func cancel(_ token: Token, of client: ClientID) {
        if let id = tokens[token] {
            if requests[id].client == client { end(id, Self.cancelled) }
        } else if let batch = batch(token, of: client) {
            cancelBatch(batch)
        }
    }

    /// Ends the members admitted so far, a few per event; later ones are not affected. A batch is
    /// also a group, identified by its token.
    func cancelGroup(_ group: GroupID, of client: ClientID) {
        pendingTransitions.cancel(clients[client]?.members(of: group) ?? [], of: group, by: client)
        if let batch = batch(Token(group.value), of: client) { cancelBatch(batch) }
    }

    /// Ends a request or batch of any client.
    func cancelAny(_ token: Token) {
        if let id = tokens[token] { return end(id, Self.cancelled) }
        if let batch = prefetching.batches[token] { cancelBatch(batch) }
    }

    /// Ends the members of a group of any client. Group IDs are random, like tokens.
    func cancelGroupOfAny(_ group: GroupID) {
        let members = requests.ids.filter { requests[$0].group == group }
        pendingTransitions.cancel(members, of: group, by: nil)
        if let batch = prefetching.batches[Token(group.value)] { cancelBatch(batch) }
    }

    /// Handles the departure of a client: its requests end, a few per event. Detached requests
    /// continue.
    func clientLeft(_ client: ClientID) {
        guard let record = clients[client] else { return }
        // Commands that have already started continue.
        for job in record.inquiries.keys.sorted() { workGraph.abandon(job) }
        endPrefetches(of: client)
        pendingTransitions.forgetGroups(of: client)
        clients[client] = nil
        releaseAll(of: client)
        let members = record.requests.members.filter { !requests[$0].isDetached }
        if !members.isEmpty {
            pendingTransitions.batchOperations.append(BatchOperation(.departed(client), members))
        }
    }

    /// Ends a request whose deadline has passed. It counts as expired if no worker had the job it
    /// waited for. Earlier events take precedence: a request in transition is checked when it
    /// continues.
    func expire(_ id: LiveRequest.ID) {
        guard let place = requests[id].place else { return }
        if workGraph.waitsForWorker(place) { shared.counters.expired += 1 }
        // The error includes the reason for the delay, if known.
        end(id, workGraph.missingWorkers(at: place).map(Self.overdue) ?? overdue(at: place))
    }

    private func overdue(at place: Place) -> ImageError {
        workGraph.waitsForResumption(place) ? Self.suspended : Self.deadlineExceeded
    }

    private static func overdue(without missing: MissingWorkers) -> ImageError {
        ImageError(.deadlineExceeded, "\(missing)") { $0.pool = missing.pool.text }
    }

    static let cancelled = ImageError(.cancelled, "the request was cancelled")
    static let deadlineExceeded = ImageError(
        .deadlineExceeded, "the request took longer than its timeout")
    static let suspended = ImageError(
        .deadlineExceeded,
        "the request took longer than its timeout because an operator has suspended downloads; "
            + "imagebus downloads resume resumes them")
}

// Timers; time advances only through events.
extension Scheduler {
    /// The latest time at which `tick` is due; `nil` while nothing waits for a time.
    package var nextDeadline: Instant? {
        let touched = hits.touches.since?.adding(milliseconds: limits.touchedMilliseconds)
        let work = wantsToPrefetch || isUnfinished ? now : nil
        return (deadlines.first?.at).min(workGraph.nextDeadline)
            .min(touched).min(work)
    }

    /// Fires due timers in chronological order. Those beyond the limit of one event fire in the
    /// next one.
    func fireTimers() {
        var left = limits.batchStepsMax
        while left > 0, let moment = nextAlarm, moment <= now {
            let counts = deadlines.first?.at == moment ? fireFirstDeadline() : fireFirstJobTimer()
            if counts { left -= 1 }
        }
        dispatcher.retryParked()
        if let since = hits.touches.since,
            since.adding(milliseconds: limits.touchedMilliseconds) <= now
        {
            notifyTouched(atLeast: 1)
        }
        // Obsolete timers don't count as overdue.
        forgetAlarms()
    }

    /// Whether due timers are left for the next event.
    var hasOverdueAlarms: Bool { nextAlarm.map { $0 <= now } ?? false }

    private var nextAlarm: Instant? {
        (deadlines.first?.at).min(workGraph.nextAlarm)
    }

    /// Returns `false` if the request had already ended.
    private func fireFirstDeadline() -> Bool {
        guard let alarm = deadlines.popFirst(), requests.contains(alarm.id) else {
            return false
        }
        expire(alarm.id)
        return true
    }

    /// Returns `false` if the timer was obsolete.
    private func fireFirstJobTimer() -> Bool {
        guard workGraph.fireFirstTimer() else { return false }
        conclude()
        return true
    }

    /// Removes obsolete timers: those at the front immediately, the others once they are the
    /// majority.
    func forgetAlarms() {
        workGraph.forgetAlarms()
        deadlines.forget(ofWhich: requests.count) { requests.contains($0.id) }
    }
}
