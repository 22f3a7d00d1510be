import Model

/// Identical loads of a client that are sent as one message (coalesced).
///
/// The first load becomes the leader when another one joins it. Its token identifies the message
/// until the message has ended, even if the load itself has left; it is then still the leader but
/// no longer a member.
struct SharedLoads {
    private struct Place {
        let leader: Token
        var priority: Priority
    }

    private struct Share {
        /// Members in order of arrival, including some that have left.
        var members: [Token]
        var count: Int
        /// The number of members per priority.
        var interests = [Int](repeating: 0, count: Priority.allCases.count)
    }

    /// A key that is already a well-distributed hash.
    private struct Hash: Hashable {
        let value: Int

        func _rawHashValue(seed: Int) -> Int { value ^ seed }
    }

    /// The places of current members.
    private var places: [Token: Place] = [:]
    /// By leader.
    private var shares: [Token: Share] = [:]
    /// Loads that can still be joined, by hash.
    private var open: [Hash: Token] = [:]
    /// Those of `open` that are about to be written to the socket.
    private var leaving: [Hash] = []

    /// Whether no load is shared.
    var isEmpty: Bool { shares.isEmpty }

    /// The number of loads that can still be joined.
    var openCount: Int { open.count }

    // MARK: - Joining

    /// Returns the newest load with a hash that can be joined.
    func candidate(_ hash: Int) -> Token? { open[Hash(value: hash)] }

    /// Makes a load joinable under its hash, replacing any earlier one.
    mutating func open(_ hash: Int, _ token: Token) { open[Hash(value: hash)] = token }

    /// Marks a load as being written to the socket at the end of this turn.
    mutating func isLeaving(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { leaving.append(hash) }
    }

    /// Closes the loads written to the socket. Later loads are sent separately, because the
    /// coordinator may already have answered.
    mutating func closeLeaving() {
        guard !leaving.isEmpty else { return }
        for hash in leaving { open[hash] = nil }
        leaving.removeAll(keepingCapacity: true)
    }

    /// Closes a joinable load that has ended.
    mutating func close(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { open[hash] = nil }
    }

    /// Joins a load to another one that requests the same image.
    mutating func join(_ token: Token, _ priority: Priority, to leader: Token, _ its: Priority) {
        if shares[leader] == nil {
            shares[leader] = Share(members: [], count: 0)
            add(leader, its, to: leader)
        }
        add(token, priority, to: leader)
    }

    private mutating func add(_ token: Token, _ priority: Priority, to leader: Token) {
        places[token] = Place(leader: leader, priority: priority)
        shares[leader]?.members.append(token)
        shares[leader]?.count += 1
        shares[leader]?.interests[Int(priority.rawValue)] += 1
    }

    // MARK: - Members

    /// Returns the leader of a load's group, or `nil` if the load is not shared.
    func leader(of token: Token) -> Token? { isEmpty ? nil : places[token]?.leader }

    /// Whether the token identifies a shared message whose original load has left.
    func hasLeft(_ token: Token) -> Bool {
        !isEmpty && shares[token] != nil && places[token] == nil
    }

    /// Whether the token identifies a message that is or was shared.
    func leads(_ token: Token) -> Bool { !isEmpty && shares[token] != nil }

    /// Returns the members of a leader's group in order of arrival, or `nil` if the token leads no
    /// group.
    func members(of leader: Token) -> [Token]? {
        guard !isEmpty, let share = shares[leader] else { return nil }
        return share.members.filter { places[$0]?.leader == leader }
    }

    /// Returns the number of members of a leader's group.
    func count(of leader: Token) -> Int { shares[leader]?.count ?? 0 }

    /// Returns the highest priority among the members.
    func priority(of leader: Token) -> Priority? {
        guard let interests = shares[leader]?.interests else { return nil }
        return interests.lastIndex { $0 > 0 }.flatMap { Priority(rawValue: UInt8($0)) }
    }

    /// Changes the priority of a member.
    mutating func set(_ priority: Priority, of token: Token) {
        guard let place = places[token] else { return }
        places[token]?.priority = priority
        shares[place.leader]?.interests[Int(place.priority.rawValue)] -= 1
        shares[place.leader]?.interests[Int(priority.rawValue)] += 1
    }

    /// Removes a member. Returns the number of remaining members.
    mutating func leave(_ token: Token) -> Int {
        guard let place = places.removeValue(forKey: token) else { return 0 }
        guard var share = exchange(&shares[place.leader], with: nil) else { return 0 }
        share.count -= 1
        share.interests[Int(place.priority.rawValue)] -= 1
        // Members that have left are removed once they are the majority.
        if share.members.count > 2 * share.count + Self.leftMin {
            share.members.removeAll { places[$0]?.leader != place.leader }
        }
        shares[place.leader] = share
        return share.count
    }

    /// Removes the group of a message that has ended, with all members.
    mutating func end(_ leader: Token) {
        guard let share = shares.removeValue(forKey: leader) else { return }
        for token in share.members where places[token]?.leader == leader { places[token] = nil }
    }

    private static let leftMin = 16
}

// Combining loads into one message (SEMANTICS §3.6).
extension PendingRequests {
    /// Joins a load to an identical one that has not been written to the socket yet; returns `nil`
    /// if there is none. The answer is then never older than the load itself, as for any other
    /// load: a cached image removed earlier is not returned (SEMANTICS §3.6).
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

    /// Handles the end of a turn: the queued messages were written to the socket.
    mutating func flushed() { shares.closeLeaving() }

    /// Returns all loads identified by a token in order of arrival, or `nil` if only its own load
    /// is.
    func members(of token: Token) -> [Token]? { shares.members(of: token) }

    /// Whether other loads share this token's message.
    func isShared(_ token: Token) -> Bool { shares.leads(token) }

    /// Sets the priority of shared work to the highest among the loads that wait for it.
    mutating func settle(_ leader: Token) -> Actions {
        guard let entry = entries[leader], let priority = shares.priority(of: leader),
            priority != entry.image.priority
        else { return [] }
        entries[leader]?.image.priority = priority
        return entry.isSent && isWelcome ? [.send(.reprioritize(leader, priority))] : []
    }

    /// Ends one load of a shared message. If it was the last and the message was sent, the
    /// coordinator is asked to cancel it.
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

    /// Ends a message for all loads that share it.
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
