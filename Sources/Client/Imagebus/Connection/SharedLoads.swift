import ImageModel
import Messages

/// Which loads of a client are one message: who joined whom before it went.
///
/// A load leads as soon as another one joins it, and its token names what was sent until that has
/// ended, although it may leave before: then it leads and is no member.
struct SharedLoads {
    private struct Place {
        let leader: Token
        var priority: Priority
    }

    private struct Share {
        /// In the order in which they came, with some who left.
        var members: [Token]
        var count: Int
        /// How many want it how urgently.
        var wishes = [Int](repeating: 0, count: Priority.allCases.count)
    }

    /// A hash is spread already.
    private struct Hash: Hashable {
        let value: Int

        func _rawHashValue(seed: Int) -> Int { value ^ seed }
    }

    /// Of those who have not left.
    private var places: [Token: Place] = [:]
    /// By leader.
    private var shares: [Token: Share] = [:]
    /// What may still be joined, by hash.
    private var open: [Hash: Token] = [:]
    /// Of that, what is on its way to the socket.
    private var leaving: [Hash] = []

    /// Whether no load is shared.
    var isEmpty: Bool { shares.isEmpty }

    /// How many loads may still be joined.
    var openCount: Int { open.count }

    // MARK: - Joining

    /// The newest load of that hash that may be joined.
    func candidate(_ hash: Int) -> Token? { open[Hash(value: hash)] }

    /// A load of that hash may be joined from now on, in the place of the one before.
    mutating func open(_ hash: Int, _ token: Token) { open[Hash(value: hash)] = token }

    /// A load is given to the socket at the end of this turn.
    mutating func isLeaving(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { leaving.append(hash) }
    }

    /// What was to be sent was given to the socket: who comes now asks anew, since the coordinator
    /// may have answered already.
    mutating func closeLeaving() {
        guard !leaving.isEmpty else { return }
        for hash in leaving { open[hash] = nil }
        leaving.removeAll(keepingCapacity: true)
    }

    /// A load has ended that might have been joined.
    mutating func close(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { open[hash] = nil }
    }

    /// A load joins another one, which asks for the same.
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
        shares[leader]?.wishes[Int(priority.rawValue)] += 1
    }

    // MARK: - Members

    /// Whom a load shares with; `nil` where it shares with nobody.
    func leader(of token: Token) -> Token? { isEmpty ? nil : places[token]?.leader }

    /// Whether it names what others share and has left them.
    func hasLeft(_ token: Token) -> Bool {
        !isEmpty && shares[token] != nil && places[token] == nil
    }

    /// Whether others share what goes by that token, or did before they left.
    func leads(_ token: Token) -> Bool { !isEmpty && shares[token] != nil }

    /// Who shares what that load leads, in the order in which they came; `nil` where it leads
    /// nothing.
    func members(of leader: Token) -> [Token]? {
        guard !isEmpty, let share = shares[leader] else { return nil }
        return share.members.filter { places[$0]?.leader == leader }
    }

    /// How many share what that load leads.
    func count(of leader: Token) -> Int { shares[leader]?.count ?? 0 }

    /// How urgently the most urgent member wants it.
    func priority(of leader: Token) -> Priority? {
        guard let wishes = shares[leader]?.wishes else { return nil }
        return wishes.lastIndex { $0 > 0 }.flatMap { Priority(rawValue: UInt8($0)) }
    }

    /// A member wants it more or less than before.
    mutating func set(_ priority: Priority, of token: Token) {
        guard let place = places[token] else { return }
        places[token]?.priority = priority
        shares[place.leader]?.wishes[Int(place.priority.rawValue)] -= 1
        shares[place.leader]?.wishes[Int(priority.rawValue)] += 1
    }

    /// A member leaves. Returns how many are left.
    mutating func leave(_ token: Token) -> Int {
        guard let place = places.removeValue(forKey: token) else { return 0 }
        guard var share = exchange(&shares[place.leader], with: nil) else { return 0 }
        share.count -= 1
        share.wishes[Int(place.priority.rawValue)] -= 1
        // Those who left are swept out once they are the most.
        if share.members.count > 2 * share.count + Self.leftMin {
            share.members.removeAll { places[$0]?.leader != place.leader }
        }
        shares[place.leader] = share
        return share.count
    }

    /// What a load leads has ended, with all who are members of it.
    mutating func end(_ leader: Token) {
        guard let share = shares.removeValue(forKey: leader) else { return }
        for token in share.members where places[token]?.leader == leader { places[token] = nil }
    }

    private static let leftMin = 16
}

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

extension ImageRequest {
    /// Whether a load of it may be one message with others that ask for the same at the same time.
    /// Each refresh is a question of its own to the origin, which tells two images; a load that
    /// goes on without its client is found again by its token.
    var mayBeShared: Bool { options.isDisjoint(with: [.refreshCached, .continueInBackground]) }
}

extension PendingLoad {
    /// Whether another load asks for the same, however urgently: all that is sent is the same but
    /// for token and class. Neither has a slot (`mayBeShared`).
    func asksTheSame(as other: PendingLoad) -> Bool {
        manner == other.manner
            && (image == other.image || image.differs(from: other.image, onlyIn: \.priority))
    }
}
