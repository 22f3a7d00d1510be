import Model

/// Identical loads of a client that are sent as one message (coalesced).
///
/// The first load becomes the leader when another one joins it. Its token identifies the message
/// until the message has ended, even if the load itself has left; it is then still the leader but
/// no longer a member. A class, because all of its loads refer to it.
final class SharedLoads {
    let leader: Token
    private var places = NumberedQueue<Token>()
    /// The number of members per priority.
    private var interests = [Int](repeating: 0, count: Priority.allCases.count)

    init(leader: Token) { self.leader = leader }

    /// The members in order of arrival.
    var members: [Token] { places.elements }

    var isEmpty: Bool { places.isEmpty }

    var hasOneMember: Bool { places.count == 1 }

    /// The highest priority among the members.
    var priority: Priority? {
        interests.lastIndex { $0 > 0 }.flatMap { Priority(rawValue: UInt8($0)) }
    }

    func add(_ load: PendingLoad) {
        load.share = self
        load.place = places.append(load.token)
        load.ownPriority = load.image.priority
        interests[Int(load.ownPriority.rawValue)] += 1
    }

    /// Changes the priority of a member.
    func set(_ priority: Priority, of load: PendingLoad) {
        interests[Int(load.ownPriority.rawValue)] -= 1
        load.ownPriority = priority
        interests[Int(priority.rawValue)] += 1
    }

    func remove(_ load: PendingLoad) {
        guard let place = load.place.take() else { return }
        places.remove(place) { $0 == load.token }
        interests[Int(load.ownPriority.rawValue)] -= 1
    }
}

extension PendingLoad {
    /// The loads that it shares its message with, as a member.
    var membership: SharedLoads? { place == nil ? nil : share }

    /// All loads identified by its token in order of arrival, or `nil` if only it is.
    var members: [Token]? { share.flatMap { $0.leader == token ? $0.members : nil } }

    /// The token of its message.
    var leader: Token { membership?.leader ?? token }

    /// Whether its token identifies a shared message that the load itself has left.
    var hasLeft: Bool { share != nil && place == nil }
}

/// Loads that can still be joined, by hash.
struct JoinableLoads {
    private var loads: [Int: PendingLoad] = [:]
    /// Those that are about to be written to the socket.
    private var leaving: [PendingLoad] = []

    /// Returns the newest load with a hash.
    func candidate(_ hash: Int) -> PendingLoad? { loads[hash] }

    /// Makes a load joinable, instead of any earlier one with its hash.
    mutating func add(_ load: PendingLoad) { loads[load.hash] = load }

    /// Marks a load as being written to the socket at the end of this turn.
    mutating func isLeaving(_ load: PendingLoad) { leaving.append(load) }

    /// Removes the loads written to the socket. Later loads are sent separately, because the
    /// coordinator may already have answered.
    mutating func removeLeaving() {
        guard !leaving.isEmpty else { return }
        for load in leaving { remove(load) }
        leaving.removeAll(keepingCapacity: true)
    }

    mutating func remove(_ load: PendingLoad) {
        if loads[load.hash] === load { loads[load.hash] = nil }
    }
}

// Combining loads into one message (SEMANTICS §3.6).
extension PendingRequests {
    /// Joins a load to an identical one that has not been written to the socket yet; returns `nil`
    /// if there is none. The answer is then never older than the load itself, as for any other
    /// load: a cached image removed earlier is not returned (SEMANTICS §3.6).
    mutating func join(_ load: PendingLoad, at now: Instant) -> Actions? {
        guard let leader = joinable.candidate(load.hash), !leader.isCancelled,
            leader.asksTheSame(as: load)
        else { return nil }
        if leader.share == nil { SharedLoads(leader: leader.token).add(leader) }
        leader.share?.add(load)
        load.isShareable = false
        enter(load, at: now)
        return settle(leader)
    }

    /// Handles the end of a turn: the queued messages were written to the socket.
    mutating func flushed() { joinable.removeLeaving() }

    /// Whether other loads share this token's message.
    func isShared(_ token: Token) -> Bool { entries[token]?.share?.leader == token }

    /// Sets the priority of shared work to the highest among the loads that wait for it.
    private mutating func settle(_ leader: PendingLoad) -> Actions {
        guard let priority = leader.share?.priority, priority != leader.image.priority else {
            return []
        }
        leader.image.priority = priority
        return leader.isSent && isWelcome ? [.send(.reprioritize(leader.token, priority))] : []
    }

    /// Changes the priority of a load.
    mutating func reprioritized(_ token: Token, _ priority: Priority) -> Actions {
        guard let load = entries[token], !load.hasLeft else { return [] }
        if let share = load.membership, let leader = entries[share.leader] {
            share.set(priority, of: load)
            return settle(leader)
        }
        load.image.priority = priority
        return load.isSent ? [.send(.reprioritize(token, priority))] : []
    }

    /// Changes the priority of all loads of a group.
    mutating func reprioritized(_ group: GroupID, _ priority: Priority) -> Actions {
        let members = entries.values.filter { $0.loadOptions.group == group }
        for load in members {
            load.membership?.set(priority, of: load)
            load.image.priority = priority
        }
        let isSent = members.contains { $0.isSent }
        return isSent ? [.send(.reprioritizeGroup(group, priority))] : []
    }

    /// Handles a cancel by the caller of a load. If other loads share its message, only this one
    /// ends, here; otherwise the load ends here if it was not sent, or else the coordinator cancels
    /// it.
    mutating func cancelled(_ token: Token) -> Actions {
        guard let load = entries[token], !load.hasLeft, let leader = entries[load.leader],
            !leader.isCancelled
        else { return [] }
        if load.membership?.hasOneMember == false {
            return left(
                load, ImageError(.cancelled, "cancelled; other callers still wait for the load"))
        }
        guard leader.isSent else { return endAll(leader.token, .cancelledUnsent) }
        leader.isCancelled = true
        return [.send(.cancel(leader.token))]
    }

    /// Ends one load of a shared message. If it was the last and the message was sent, the
    /// coordinator is asked to cancel it.
    mutating func left(_ load: PendingLoad, _ error: ImageError) -> Actions {
        guard let share = load.membership, let leader = entries[share.leader] else {
            let wasSent = load.isSent && isWelcome
            return end(load.token, error) + (wasSent ? [.send(.cancel(load.token))] : [])
        }
        share.remove(load)
        if load !== leader { entries[load.token] = nil }
        let failed = [Action.fail(load, error)]
        guard share.isEmpty else { return failed + settle(leader) }
        let wasSent = leader.isSent && isWelcome
        remove(share.leader)
        return failed + [.forget(share.leader)]
            + (wasSent ? [.send(.cancel(share.leader))] : [])
    }

    /// Ends a message for all loads that share it.
    mutating func endAll(_ token: Token, _ error: ImageError) -> Actions {
        guard let members = entries[token]?.members else { return end(token, error) }
        let ended = members.compactMap { entries[$0] }
        removeAll(token)
        return ended.map { .fail($0, error) } + [.forget(token)]
    }

    /// Removes a load, or all loads that share the message with this token.
    mutating func removeAll(_ token: Token) {
        guard let members = remove(token)?.members else { return }
        for member in members where member != token { entries[member] = nil }
    }
}

extension ImageRequest {
    /// Whether a load of this request may be combined into one message with identical loads. Each
    /// refresh has to ask the origin itself and delivers two images. A load that continues without
    /// its client is later found by its token.
    var mayBeShared: Bool { options.isDisjoint(with: [.refreshCached, .continueInBackground]) }
}

extension PendingLoad {
    /// Whether another load requests the same image, regardless of priority: the messages differ
    /// only in token and priority. Neither names a slot (`mayBeShared`).
    func asksTheSame(as other: PendingLoad) -> Bool {
        loadOptions == other.loadOptions
            && (image == other.image || image.differs(from: other.image, onlyIn: \.priority))
    }
}
