import ImageModel
import Messages

// Loads that are one message (SEMANTICS §3.6).
extension PendingRequests {
    /// Makes it one with a load that asks for the same and was not given to the socket; `nil` where
    /// there is none. Its answer is then not older than the request for it, as that of each other
    /// load: no cached image that was removed before comes back (SEMANTICS §3.6).
    mutating func join(_ load: PendingLoad, at now: Instant) -> Actions? {
        guard let leader = shares.candidate(load.hash), let entry = entries[leader],
            !entry.isCancelled, entry.asksTheSame(as: load)
        else { return nil }
        shares.join(
            load.token, load.image.priority, to: leader, entry.image.priority)
        load.isShareable = false
        enter(load, at: now)
        return settle(leader)
    }

    /// What was to be sent in this turn was given to the socket.
    mutating func flushed() { shares.closeLeaving() }

    /// All whose load goes by this token, in the order in which they came; `nil` where that is
    /// nobody's but its own.
    func members(of token: Token) -> [Token]? { shares.members(of: token) }

    /// Whether others go by this token, too.
    func isShared(_ token: Token) -> Bool { shares.leads(token) }

    /// Shared work has the highest class among those who wait for it.
    mutating func settle(_ leader: Token) -> Actions {
        guard let entry = entries[leader], let priority = shares.priority(of: leader),
            priority != entry.image.priority
        else { return [] }
        entries[leader]?.image.priority = priority
        return entry.isSent && isWelcome ? [.send(.reprioritise(leader, priority))] : []
    }

    /// Somebody stops waiting. With the last one of a load that has gone a cancel goes.
    mutating func left(_ token: Token, _ error: ImageError) -> Actions {
        guard let leader = shares.leader(of: token) else {
            let wasSent = entries[token]?.isSent == true && isWelcome
            return end(token, error) + (wasSent ? [.send(.cancel(token))] : [])
        }
        let count = shares.leave(token)
        let failed: Actions = entries[token].map { [.fail($0, error)] } ?? []
        if token != leader { entries.remove(token) }
        guard count == 0 else { return failed + settle(leader) }
        let wasSent = entries[leader]?.isSent == true && isWelcome
        shares.end(leader)
        remove(leader)
        return failed + [.forget(leader)] + (wasSent ? [.send(.cancel(leader))] : [])
    }

    /// What goes by this token has ended: for all who share it.
    mutating func endAll(_ token: Token, _ error: ImageError) -> Actions {
        guard let members = shares.members(of: token) else { return end(token, error) }
        let ended = members.compactMap { entries[$0] }
        removeAll(token, members)
        return ended.map { .fail($0, error) } + Actions(.forget(token))
    }

    mutating func removeAll(_ leader: Token, _ members: [Token]) {
        shares.end(leader)
        for member in members where member != leader { entries.remove(member) }
        remove(leader)
    }
}
